import { returnPathHostOf } from '../../domains/records.ts'
import type { Config } from '../../platform/config/config.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { HostAddresses } from '../../platform/net/host-addresses.ts'
import type { DmarcGroup } from './read/report-reading.ts'

/** Recognizes mail that this service has sent. */
export interface OwnMail {
  /** `domain`: the sending domain to which the group belongs. */
  has(group: DmarcGroup, domain: string): boolean
}

/** Signatures whose keys are looked for. */
const MAX_SIGNERS = 2000

export type OwnMailConfig = Pick<Config, 'heloName' | 'returnPathHost' | 'delivery' | 'dnsServers'>

/**
 * Mail is that of this service if it came from one of its addresses, has a valid signature with one of its keys, or has a return path of it
 * for which SPF passed. A relay host's addresses are not known, and forwarders send from their own.
 */
export async function recognizeOwnMail(
  sql: Sql,
  groups: readonly DmarcGroup[],
  { config, hostAddresses }: { readonly config: OwnMailConfig; readonly hostAddresses: HostAddresses },
): Promise<OwnMail> {
  const sources = await selectAddresses(sql)
  const addresses = new Set(sources.length > 0 ? sources : await hostAddresses())
  const signers = await selectOwnSigners(sql, [...new Set(groups.flatMap(({ signedBy }) => signedBy))])
  return {
    has: ({ sourceIp, signedBy, spfDomain }, domain) =>
      (sourceIp !== null && addresses.has(sourceIp)) ||
      signedBy.some((signer) => signers.has(signer)) ||
      (spfDomain !== '' && (spfDomain === config.returnPathHost || spfDomain === returnPathHostOf(domain))),
  }
}

async function selectAddresses(sql: AnySql): Promise<string[]> {
  const rows = await sql<{ address: string }[]>`
    select host(a.address) as address from sources s, unnest(array[s.address, s.address6]) as a(address) where a.address is not null`
  return rows.map(({ address }) => address)
}

/** Of texts like `domain selector`, those of keys of sending domains. */
async function selectOwnSigners(sql: AnySql, signers: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ signer: string }[]>`
    select distinct w.signer
      from unnest(${signers.slice(0, MAX_SIGNERS)}::text[]) as w(signer)
      join domains d on d.name = split_part(w.signer, ' ', 1)
      join (select domain_id, selector from dkim_keys union all select domain_id, selector from dkim_ed25519_keys) k
        on k.domain_id = d.id and lower(k.selector) = split_part(w.signer, ' ', 2)`
  return new Set(rows.map(({ signer }) => signer))
}
