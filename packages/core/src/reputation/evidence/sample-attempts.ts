import type { AnySql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { AttemptSample } from './evidence.ts'
import { Refusals, type RefusedAttempt } from './refusals.ts'

/** The mail of which period and destination. */
export interface Span {
  readonly from: Date
  readonly until: Date
  readonly provider: string
  readonly source: string | null
}

/** Attempts that are looked at, about: a second's work on rows that are in no cache. */
const MAX_LOOKED_AT = 200_000
/** Attempts in the period may be of messages accepted earlier: as long before as mail usually lives. */
const EARLIER_MS = 3 * 86_400_000
const SLICE_MS = 3_600_000
/** Slices per statement, which bounds its time. */
const SLICES = 24

/** Stages after EHLO and STARTTLS. */
const IN_SESSION: ReadonlySet<string> = new Set(['mail', 'rcpt', 'data', 'dot'])

type Row = {
  readonly lookedAt: number
  readonly isCut: boolean
  readonly tls: string | null
  readonly stage: string | null
  readonly outcome: string | null
} & { readonly [Field in keyof RefusedAttempt]: RefusedAttempt[Field] | null }

/**
 * Looks at attempts of the period. Attempts are found by the time their message was accepted, so each hour of acceptance has its share, and of an
 * hour with more only the first are looked at. No statement reads more than its share, however many attempts there are.
 */
export async function sampleAttempts(sql: AnySql, secrets: Secrets, span: Span): Promise<AttemptSample> {
  const [start, end] = [span.from.getTime() - EARLIER_MS, span.until.getTime()]
  const share = Math.floor(MAX_LOOKED_AT / Math.ceil((end - start) / SLICE_MS))
  const refusals = new Refusals()
  const tls = new Map<string, number>()
  let [lookedAt, count, isComplete] = [0, 0, true]
  for (let from = start; from < end; from += SLICES * SLICE_MS) {
    const rows = await readSlices(sql, span, { from, until: Math.min(from + SLICES * SLICE_MS, end), share })
    lookedAt += rows[0]?.lookedAt ?? 0
    if (rows[0]?.isCut) isComplete = false
    for (const row of rows) {
      if (row.outcome === null) continue
      count++
      // Without a session, there was nothing to encrypt.
      if (row.outcome === 'delivered' || IN_SESSION.has(row.stage ?? '')) {
        const version = row.tls?.split(' ')[0] ?? ''
        tls.set(version, (tls.get(version) ?? 0) + 1)
      }
      if (isRefusal(row)) refusals.add(row)
    }
  }
  const versions = [...tls].map(([version, attempts]) => ({ version, attempts }))
  return {
    lookedAt,
    count,
    isComplete,
    tls: versions.toSorted((a, b) => b.attempts - a.attempts),
    refusals: refusals.commonest(secrets),
  }
}

function isRefusal(row: Row): row is Row & RefusedAttempt {
  return row.outcome !== 'delivered' && row.code !== null && row.code >= 400
}

interface Slices {
  readonly from: number
  readonly until: number
  readonly share: number
}

/** The first row has the numbers; without an attempt of the destination it has nothing else. */
async function readSlices(sql: AnySql, span: Span, { from, until, share }: Slices): Promise<Row[]> {
  const { provider, source } = span
  const atDestination =
    source === null
      ? sql`(l.place = ${provider} or starts_with(l.place, ${`${provider}@`}))`
      : sql`l.place = ${`${provider}@${source}`}`
  return sql<Row[]>`
    with looked as materialized (
      select s.no, a.*
        from generate_series(0, ${Math.ceil((until - from) / SLICE_MS) - 1}::int) s(no)
       cross join lateral (
         select message_id, recipient_no, outcome, started_at, stage, tls, code, enhanced, reply, place from attempts
          where message_id >= uuidv7_floor(to_timestamp(${from / 1000}::float8) + s.no * interval '1 hour')
            and message_id < uuidv7_floor(least(to_timestamp(${from / 1000}::float8) + (s.no + 1) * interval '1 hour',
                                                to_timestamp(${until / 1000}::float8)))
          order by message_id limit ${share}::int) a
    )
    select n."lookedAt", n."isCut", l.outcome, l.stage, l.tls, l.code, l.enhanced, l.reply, l.started_at as "startedAt", d.recipient,
           d.recipient_key as "recipientKey"
      from (select coalesce(sum(c), 0)::int as "lookedAt", coalesce(max(c), 0) >= ${share}::int as "isCut"
              from (select count(*) as c from looked group by no) counted) n
      left join looked l on ${atDestination} and l.started_at >= ${span.from.toISOString()}::text::timestamptz
                            and l.started_at < ${span.until.toISOString()}::text::timestamptz
      left join lateral (
        select recipient, recipient_key from deliveries
         where message_id = l.message_id and recipient_no = l.recipient_no limit 1) d on l.outcome <> 'delivered' and l.code >= 400`
}
