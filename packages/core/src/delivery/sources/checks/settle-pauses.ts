import { OPERATOR } from '../../../accounts/audit/index.ts'
import type { AnySql, Sql } from '../../../platform/database/database.ts'
import type { Log } from '../../../platform/process/log.ts'
import { changeEgressIf } from '../change-egress.ts'
import { type Egress, readEgress, type Source } from '../egress.ts'

/** A source that a block list has, or that is paused because of that. */
interface Candidate {
  readonly id: number
  /** Whether the service has paused it, and not the operator. */
  readonly isPausedByListing: boolean
  /** Such as `zen.spamhaus.org (127.0.0.2)`; null if no listing pauses it. */
  readonly listedBy: string | null
}

/**
 * Pauses sources that most receivers refuse because of a block list, if another source of their pool can send; ends such pauses when the
 * listing is gone or no other source can send. Pauses of the operator stay. Returns the number of changes.
 */
export async function settlePauses(sql: Sql, log: Log): Promise<number> {
  const candidates = await readCandidates(sql)
  if (candidates.length === 0) return 0
  const egress = await readEgress(sql)
  let changes = 0
  for (const candidate of candidates) {
    if (changeOf(candidate, egress) !== undefined && (await settle(sql, candidate.id, log))) changes++
  }
  return changes
}

async function readCandidates(sql: AnySql, id?: number): Promise<Candidate[]> {
  return sql<Candidate[]>`
    select s.id, s.paused_by is not distinct from 'listing' as "isPausedByListing", l.names as "listedBy"
      from sources s cross join lateral (
        select string_agg(distinct list || ' (' || array_to_string(codes, ', ') || ')', ', ') as names
          from source_listings l where l.source_id = s.id and l.severe and not l.overruled) l
     where (s.paused_by = 'listing' or (s.state = 'active' and l.names is not null))
       ${id === undefined ? sql`` : sql`and s.id = ${id}`}
     order by s.id`
}

/** The reason of the pause that begins; null if the pause ends; undefined if nothing changes. */
function changeOf({ id, isPausedByListing, listedBy }: Candidate, egress: Egress): string | null | undefined {
  const source = egress.sources.find((one) => one.id === id)
  if (!source) return undefined
  const shouldPause = listedBy !== null && canOthersSend(egress, source)
  if (shouldPause === isPausedByListing) return undefined
  return shouldPause ? `listed by ${listedBy}` : null
}

function canOthersSend({ sources }: Egress, { id, poolId }: Source): boolean {
  return sources.some((one) => one.id !== id && one.poolId === poolId && !one.isPaused && one.workers > 0)
}

/** Decides again, since another process may have changed something: changes of sources exclude each other. */
async function settle(sql: Sql, id: number, log: Log): Promise<boolean> {
  const settled = await changeEgressIf(sql, OPERATOR, async (transaction, egress) => {
    const [candidate] = await readCandidates(transaction, id)
    const source = egress.sources.find((one) => one.id === id)
    const reason = candidate && changeOf(candidate, egress)
    if (!source || reason === undefined) return undefined
    await transaction`
      update sources set state = ${reason === null ? 'active' : 'paused'}, reason = ${reason},
                         paused_by = ${reason === null ? null : 'listing'} where id = ${id}`
    return {
      result: { name: source.name, reason, listedBy: candidate?.listedBy },
      action: reason === null ? 'source.resume' : 'source.pause',
      object: `source ${source.name}`,
      before: { isPaused: source.isPaused, reason: source.reason },
      after: { isPaused: reason !== null, reason },
    }
  })
  if (!settled) return false
  const { name, reason, listedBy } = settled
  if (reason !== null) log.warn({ source: name, reason }, 'source address paused')
  else if (listedBy)
    log.warn({ source: name, listedBy }, 'source address resumed: no other source of its pool can send')
  else log.info({ source: name }, 'source address resumed: no block list has it')
  return true
}
