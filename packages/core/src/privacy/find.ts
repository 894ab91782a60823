import type { AnySql } from '../database.ts'

/** Rows of the queue read at once: it has no index by recipient, which would cost every accept and every claim. */
const SLICE = 10_000

export interface QueueSlice {
  /** Deliveries to one of the recipients. */
  readonly found: readonly { readonly messageId: string; readonly recipientNo: number; readonly key: string }[]
  /** Where the next slice begins; undefined: the queue is read through. */
  readonly next: { readonly messageId: string; readonly recipientNo: number } | undefined
}

export interface QueueQuestion {
  readonly accountId: number
  readonly keys: readonly string[]
  /** Accepted no later than this. */
  readonly until: Date
  readonly after: { readonly messageId: string; readonly recipientNo: number } | undefined
}

const BEGINNING = { messageId: '00000000-0000-0000-0000-000000000000', recipientNo: -1 }

/** Reads the queue by its primary key, a slice a call. What leaves the queue meanwhile is to be looked for among the finished. */
export async function findQueued(
  sql: AnySql,
  { accountId, keys, until, after = BEGINNING }: QueueQuestion,
): Promise<QueueSlice> {
  const rows = await sql<{ messageId: string; recipientNo: number; key: string; mine: boolean; read: number }[]>`
    with slice as materialized (
      select message_id, recipient_no, account_id, recipient_key from delivery_queue
       where (message_id, recipient_no) > (${after.messageId}::uuid, ${after.recipientNo}::int)
             -- Its time is of another host's clock.
             and message_id < uuidv7_floor(${until}::timestamptz + interval '1 day')
       order by message_id, recipient_no limit ${SLICE}
    ), last as (
      select message_id, recipient_no from slice order by message_id desc, recipient_no desc limit 1
    )
    select s.message_id as "messageId", s.recipient_no as "recipientNo", s.recipient_key as key, true as mine, 0 as read
      from slice s join messages m on m.id = s.message_id
     where s.account_id = ${accountId} and s.recipient_key = any(${[...keys]}::text[]) and m.accepted_at <= ${until}
    union all
    select message_id, recipient_no, '', false, (select count(*)::int from slice) from last`
  const last = rows.find(({ mine }) => !mine)
  return {
    found: rows.filter(({ mine }) => mine).map(({ messageId, recipientNo, key }) => ({ messageId, recipientNo, key })),
    next: last && last.read === SLICE ? { messageId: last.messageId, recipientNo: last.recipientNo } : undefined,
  }
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
