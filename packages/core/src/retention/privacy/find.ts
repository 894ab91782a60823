import { waitingFor } from '../../delivery/waiting.ts'
import type { AnySql } from '../../platform/database/database.ts'

/** Deliveries found at once, at most. */
const SLICE = 10_000

export interface QueueSlice {
  /** Deliveries to one of the recipients. */
  readonly found: readonly { readonly messageId: string; readonly recipientNo: number; readonly key: string }[]
  /** Where the next slice begins; undefined: there are no more. */
  readonly next: { readonly messageId: string; readonly recipientNo: number } | undefined
}

export interface QueueQuestion {
  readonly accountId: number
  readonly keys: readonly string[]
  /** Accepted no later than this. */
  readonly until: Date
  readonly after: { readonly messageId: string; readonly recipientNo: number } | undefined
  /** Deliveries at most. */
  readonly limit?: number
}

const BEGINNING = { messageId: '00000000-0000-0000-0000-000000000000', recipientNo: -1 }

/** What waits for some recipients, in the order of its key. What leaves the queue meanwhile is to be looked for among the finished. */
export async function findQueued(
  sql: AnySql,
  { accountId, keys, until, after = BEGINNING, limit = SLICE }: QueueQuestion,
): Promise<QueueSlice> {
  const found = await sql<{ messageId: string; recipientNo: number; key: string }[]>`
    select q.message_id as "messageId", q.recipient_no as "recipientNo", q.recipient_key as key
      from (${waitingFor(sql, accountId, keys)}) q join messages m on m.id = q.message_id
     where (q.message_id, q.recipient_no) > (${after.messageId}::uuid, ${after.recipientNo}::int)
       -- Its time is of another host's clock.
       and q.message_id < uuidv7_floor(${until}::timestamptz + interval '1 day') and m.accepted_at <= ${until}
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

/** Messages with a finished delivery to the recipient, some of them. Served by `finished_deliveries_person`. */
export async function findFinished(
  sql: AnySql,
  { accountId, key, until, limit }: { accountId: number; key: string; until: Date; limit: number },
): Promise<FoundMessage[]> {
  return sql<FoundMessage[]>`
    select distinct m.id, m.accepted_at as "acceptedAt", m.recipients, m.size
      from (select f.message_id from finished_deliveries f
             where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(${key}::text, ${accountId}::int)
               and f.recipient_key = ${key}::text and f.account_id = ${accountId}::int
               -- The message's time is the database's; its id has another host's.
               and exists (select from messages a where a.id = f.message_id and a.accepted_at <= ${until})
             limit ${limit}) found
      join messages m on m.id = found.message_id
     order by m.id`
}

/** Of messages ordered by id, the first whose rows and octets one short transaction can change. */
export function firstFew(messages: readonly FoundMessage[]): FoundMessage[] {
  let recipients = 0
  let octets = 0
  const taken: FoundMessage[] = []
  for (const message of messages) {
    recipients += message.recipients
    octets += message.size
    if (taken.length > 0 && (recipients > MOST_RECIPIENTS || octets > MOST_OCTETS)) break
    taken.push(message)
  }
  return taken
}

const MOST_RECIPIENTS = 1000
const MOST_OCTETS = 32 * 1024 * 1024
