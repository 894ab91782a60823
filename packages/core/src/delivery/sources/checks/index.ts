import { asksDns, type Config } from '../../../platform/config/config.ts'
import type { AnySql, Sql } from '../../../platform/database/database.ts'
import type { Log } from '../../../platform/process/log.ts'
import { sourceNamed } from '../change-egress.ts'
import { readEgress } from '../egress.ts'
import type { ConfirmAddresses } from '../manage-sources.ts'
import { type BlockList, blockListsOf } from './block-lists.ts'
import { checkDueSources, type Round } from './check-due.ts'
import { checkListings } from './check-listings.ts'
import { checkRecords, requireReverse } from './check-records.ts'
import { type DnsPlan, planDns } from './dns-plan.ts'
import { ListProver } from './list-prover.ts'
import { settlePauses } from './settle-pauses.ts'
import { readStatuses, type SourceStatus } from './source-status.ts'
import { type CheckedSource, readNow } from './store.ts'

export { type DnsPlan, planDns } from './dns-plan.ts'
export type { CheckPurpose, CheckState, RecordCheck } from './record-check.ts'
export type { SourceStatus } from './source-status.ts'
export type { Listing } from './store.ts'

/** Checks of the addresses that mail is sent from, in the DNS and in block lists. */
export interface SourceChecks {
  readonly confirm: ConfirmAddresses
  /** Checks a source now, at most 20 s. Throws parameterInvalid (source). */
  check(name: string): Promise<SourceStatus>
  /** The results of the last checks, by the id of the source. */
  read(): Promise<Map<number, SourceStatus>>
  /** Checks the DNS records of sources that are due, as {@link checkDueSources} does. Any number of workers may do this concurrently. */
  checkDueRecords(round: Round): Promise<number>
  /** The same for block lists; then pauses sources because of listings, and ends such pauses. */
  checkDueListings(round: Round): Promise<number>
  /** All records that the operator's own domain and addresses need, with their states; takes at most a minute. */
  planDns(): Promise<DnsPlan>
}

export interface SourceChecksDependencies {
  readonly sql: Sql
  readonly log: Log
  readonly config: Pick<
    Config,
    | 'delivery'
    | 'dnsServers'
    | 'returnPathHost'
    | 'receivesReports'
    | 'operatorDkim'
    | 'publicUrl'
    | 'heloName'
    | 'blockLists'
    | 'spamhausKey'
  >
}

export function createSourceChecks({ sql, log, config }: SourceChecksDependencies): SourceChecks {
  const { dnsServers, returnPathHost } = config
  const recordOptions = { sql, log, dnsServers, returnPathHost, asksDns: asksDns(config) }
  const lists = listsOf(config)
  const listingOptions = { sql, log, dnsServers, lists, prover: new ListProver(log) }
  const statusOptions = { sql, lists }

  async function check(source: CheckedSource): Promise<void> {
    const now = await readNow(sql)
    await Promise.all([checkRecords(source, recordOptions), checkListings(source, { ...listingOptions, now })])
  }

  return {
    confirm: (source) => requireReverse(source, recordOptions),
    async check(name) {
      const source = sourceNamed(await readEgress(sql), name)
      await check(source)
      await settlePauses(sql, log)
      return (await readStatuses(statusOptions, [source.id])).get(source.id) as SourceStatus
    },
    read: () => readStatuses(statusOptions),
    checkDueRecords: (round) =>
      checkDueSources(sql, 'records', round, (source) =>
        checkRecords(source, { ...recordOptions, signal: round.signal }),
      ),
    async checkDueListings(round) {
      try {
        return await checkDueSources(sql, 'listings', round, (source, now) =>
          checkListings(source, { ...listingOptions, now, signal: round.signal }),
        )
      } finally {
        await settlePauses(sql, log)
      }
    },
    planDns: () => planDns({ sql, config }),
  }
}

type ListSettings = Pick<Config, 'delivery' | 'blockLists' | 'spamhausKey'>

/** In the sandbox, no address sends anything. */
function listsOf({ delivery, blockLists, spamhausKey }: ListSettings): readonly BlockList[] {
  return delivery.kind === 'sandbox' ? [] : blockListsOf(blockLists, spamhausKey)
}

/** Returns the results of the last checks of all sources, by the id of the source. */
export function readSourceStatuses(sql: AnySql, config: ListSettings): Promise<Map<number, SourceStatus>> {
  return readStatuses({ sql, lists: listsOf(config) })
}
