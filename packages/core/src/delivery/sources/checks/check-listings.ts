import type { Sql } from '../../../platform/database/database.ts'
import { withDns } from '../../../platform/net/dns-lookup.ts'
import { isPrivateAddress } from '../../../platform/net/networks.ts'
import type { Log } from '../../../platform/process/log.ts'
import type { BlockList, Verdict } from './block-lists.ts'
import { sendingAddresses } from './check-records.ts'
import type { ListProver } from './list-prover.ts'
import { type CheckedSource, type Listing, type NewListing, readListings, saveListings } from './store.ts'

export interface ListingCheckOptions {
  readonly sql: Sql
  readonly log: Log
  readonly dnsServers: readonly string[]
  readonly lists: readonly BlockList[]
  readonly prover: ListProver
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

/** Looks up the addresses of a source in the block lists and stores the results. New listings are logged. */
export async function checkListings(source: CheckedSource, options: ListingCheckOptions): Promise<void> {
  const { sql, log, dnsServers, lists, prover, now, signal } = options
  const before = await readListings(sql, [source.id])
  const addresses = sendingAddresses(source).filter(({ address }) => !isPrivateAddress(address))
  const found = await withDns({ servers: dnsServers, signal }, (query) =>
    Promise.all(
      addresses.flatMap(({ address }) =>
        lists
          .filter(({ hasIpv6 }) => hasIpv6 || !address.includes(':'))
          .map(async (list) => ({
            address,
            list: list.name,
            verdict: await prover.lookUp(list, address, query, now),
          })),
      ),
    ),
  )
  if (signal?.aborted) return
  const listings = found.map(({ address, list, verdict }): NewListing => {
    const old = before.find((one) => one.address === address && one.list === list)
    return { address, list, ...withPrevious(verdict, old) }
  })
  await saveListings(sql, source.id, listings)
  for (const listing of listings) noteChange(log, source, listing, before)
}

/** A list that does not answer has not removed the address: its listing stays, and `problem` reports the failure. */
function withPrevious(verdict: Verdict, old: Listing | undefined): Verdict {
  if (verdict.state !== 'unknown' || !old || (old.state !== 'listed' && old.state !== 'policy')) return verdict
  const { state, codes, isSevere } = old
  return { state, codes, isSevere, ...(verdict.problem === undefined ? {} : { problem: verdict.problem }) }
}

function noteChange(log: Log, { name }: CheckedSource, now: NewListing, before: readonly Listing[]): void {
  const old = before.find(({ address, list }) => address === now.address && list === now.list)
  const { list, codes } = now
  if (now.state === 'listed' && (old?.state !== 'listed' || String(old.codes) !== String(codes)))
    log.warn({ source: name, list, codes }, 'a block list has a source address')
  if (old?.state === 'listed' && now.state !== 'listed')
    log.info({ source: name, list }, 'a block list no longer has a source address')
}
