import { waitingFor } from '../../delivery/queue/waiting.ts'
import type { AnySql } from '../../platform/database/database.ts'

/** Maximum number of deliveries in a slice. */
const SLICE = 10_000

export interface QueueSlice {
  /** Deliveries to one of the recipients. */
  readonly found: readonly { readonly messageId: string; readonly recipientNo: number; readonly key: string }[]
  /** Position after which the next slice begins; undefined if there is none. */
  readonly next: { readonly messageId: string; readonly recipientNo: number } | undefined
}

export interface QueueQuestion {
  readonly accountId: number
  readonly keys: readonly string[]
  /** Only messages accepted at this time or earlier, to the microsecond. Passed as text, since postgres.js cuts times to milliseconds. */
  readonly until: string
  readonly after: { readonly messageId: string; readonly recipientNo: number } | undefined
  /** Maximum number of deliveries. */
  readonly limit?: number
}

const BEGINNING = { messageId: '00000000-0000-0000-0000-000000000000', recipientNo: -1 }

/** Returns queued deliveries to some recipients, ordered by key. Those that finish meanwhile are found by findFinished. */
export async function findQueued(
  sql: AnySql,
  { accountId, keys, until, after = BEGINNING, limit = SLICE }: QueueQuestion,
): Promise<QueueSlice> {
  const found = await sql<{ messageId: string; recipientNo: number; key: string }[]>`
    select q.message_id as "messageId", q.recipient_no as "recipientNo", q.recipient_key as key
      from (${waitingFor(sql, accountId, keys)}) q join messages m on m.id = q.message_id
     where (q.message_id, q.recipient_no) > (${after.messageId}::uuid, ${after.recipientNo}::int)
       -- The time in the id is that of another host's clock.
       and q.message_id < uuidv7_floor(${until}::text::timestamptz + interval '1 day') and m.accepted_at <= ${until}::text::timestamptz
     order by q.message_id, q.recipient_no limit ${limit}`
  const last = found.length === limit ? found.at(-1) : undefined
  return { found, next: last && { messageId: last.messageId, recipientNo: last.recipientNo } }
}

export interface FoundMessage {
  readonly id: string
  readonly acceptedAt: Date
  readonly recipients: number
  readonly size: number
}

/** Returns up to `limit` messages with a finished delivery to the recipient. Uses the index `finished_deliveries_person`. */
export async function findFinished(
  sql: AnySql,
  { accountId, key, until, limit }: { accountId: number; key: string; until: string; limit: number },
): Promise<FoundMessage[]> {
  return sql<FoundMessage[]>`
    select distinct m.id, m.accepted_at as "acceptedAt", m.recipients, m.size
      from (select f.message_id from finished_deliveries f
             where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(${key}::text, ${accountId}::int)
               and f.recipient_key = ${key}::text and f.account_id = ${accountId}::int
               -- accepted_at is the database's time; the id contains that of another host.
               and exists (select from messages a where a.id = f.message_id and a.accepted_at <= ${until}::text::timestamptz)
             limit ${limit}) found
      join messages m on m.id = found.message_id
     order by m.id`
}

/** Returns the first of the messages, ordered by id, whose rows and bytes one short transaction can change. */
export function firstFew(messages: readonly FoundMessage[]): FoundMessage[] {
  let recipients = 0
  let bytes = 0
  const taken: FoundMessage[] = []
  for (const message of messages) {
    recipients += message.recipients
    bytes += message.size
    if (taken.length > 0 && (recipients > MAX_RECIPIENTS || bytes > MAX_BYTES)) break
    taken.push(message)
  }
  return taken
}

const MAX_RECIPIENTS = 1000
const MAX_BYTES = 32 * 1024 * 1024
