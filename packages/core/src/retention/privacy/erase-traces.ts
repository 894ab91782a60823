import { finishDeliveries } from '../../delivery/outcomes/finish-deliveries.ts'
import { insertEvents } from '../../events/insert-events.ts'
import { type AnySql, notByIndex, onlyRow } from '../../platform/database/database.ts'

/** Fields of an event's detail that are kept: numbers and names defined by Postrider, no text from servers or mail clients. */
const RETAINED_DETAIL = [
  'attempt',
  'code',
  'enhanced',
  'class',
  'indeterminate',
  'reason',
  'nextAt',
  'first',
  'machine',
  'rules',
  'group',
  'late',
  'feedback',
]
/** Matches pseudonyms (makePseudonym in index.ts). */
const PSEUDONYM = '^forgotten-[0-9a-f]{20}$'

/** A recipient to be erased from some messages. */
export interface ErasedRecipient {
  readonly accountId: number
  readonly key: string
  readonly pseudonym: string
  /** UUIDs of the messages, in order, so that two erasures never deadlock. */
  readonly ids: readonly string[]
}

/**
 * Drops queued deliveries to the recipient, unless a worker has claimed them. Returns their number. The account is compared in a way that
 * cannot use an index: that of flows would read all waiting mail of the account.
 */
export async function cancelQueued(sql: AnySql, { ids, accountId, key, pseudonym }: ErasedRecipient): Promise<number> {
  return countOf(sql`
    with mine as materialized (
      select q.message_id, q.recipient_no from unnest(${[...ids]}::uuid[]) as w(id) join delivery_queue q on q.message_id = w.id
       where q.account_id is not distinct from ${accountId} and q.recipient_key = ${key} and q.worker_id is null
       for update of q skip locked
    ), deleted as (
      delete from delivery_queue q using mine where q.message_id = mine.message_id and q.recipient_no = mine.recipient_no
      returning q.message_id, q.recipient_no, q.account_id, q.kind, q.attempt
    ), finished as (
      ${finishDeliveries(sql, {
        from: sql`deleted`,
        state: 'dropped',
        reason: 'forgotten',
        columns: {
          recipient: sql`${pseudonym}::text`,
          recipientKey: sql`${pseudonym}::text`,
          recipientDomain: sql`''`,
          reference: sql`null::text`,
          personal: sql`null::jsonb`,
        },
      })}
    ), new_events as (
      ${insertEvents(sql, { from: sql`deleted`, type: 'dropped', detail: { reason: 'forgotten' } })}
    )
    select count(*)::int as count from deleted`)
}

/** Returns the messages without queued deliveries. */
export async function withoutQueued(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
      select w.id from unnest(${[...ids]}::uuid[]) as w(id)
       where not exists (select from delivery_queue q where q.message_id = w.id)`
  return rows.map(({ id }) => id)
}

/** Returns the number of finished deliveries to the recipient that were changed. */
export async function eraseDeliveries(
  sql: AnySql,
  { ids, accountId, key, pseudonym }: ErasedRecipient,
): Promise<number> {
  const { quoted, inData } = escaped(key)
  const erased = await countOf(sql`
    with copied as materialized (
      -- References of copies (cc, bcc) are the sender's for the recipient before them, whose number is the next lower one of a To recipient.
      select c.message_id, c.recipient_no
        from unnest(${[...ids]}::uuid[]) as w(id)
        join finished_deliveries f on f.message_id = w.id and f.account_id = ${accountId} and f.recipient_key = ${key} and f.kind = 'to'
        join finished_deliveries c on c.message_id = f.message_id and c.recipient_no > f.recipient_no and c.kind <> 'to' and c.reference is not null
       where c.recipient_key <> ${key}
         and not exists (select from finished_deliveries o where o.message_id = f.message_id and o.kind = 'to'
                            and o.recipient_no > f.recipient_no and o.recipient_no < c.recipient_no)
    ), copies as (
      update finished_deliveries f set reference = null from copied c
       where f.message_id = c.message_id and f.recipient_no = c.recipient_no
    ), own as (
      update finished_deliveries f
         set recipient = ${pseudonym}, recipient_key = ${pseudonym}, recipient_domain = '', reference = null, personal = null
        from unnest(${[...ids]}::uuid[]) as w(id)
       where f.message_id = w.id and f.account_id = ${accountId}
         -- An invalid recipient may still contain the address, for example next to a name.
         and (f.recipient_key = ${key} or (f.reason = 'invalid' and position(${key} in f.recipient_key) > 0))
      returning 1)
    select count(*)::int as count from own`)
  // Copies of other recipients contain the address in To or Cc.
  await sql`
    update finished_deliveries f set personal = null
      from unnest(${[...ids]}::uuid[]) as w(id)
     where f.message_id = w.id and f.account_id = ${accountId} and f.personal is not null
       and (position(${quoted} in lower(f.personal::text)) > 0 or position(${inData} in lower(f.personal::text)) > 0)`
  return erased
}

/** Returns the number of attempts that were changed. */
export async function eraseAttempts(sql: AnySql, { ids, accountId, key, pseudonym }: ErasedRecipient): Promise<number> {
  const { quoted } = escaped(key)
  return countOf(sql`
    with own as (
      update attempts a set reply = null, conversation = null, host = null, address = null
        from unnest(${[...ids]}::uuid[]) as w(id)
       where a.message_id = w.id and a.account_id = ${accountId}
         and (a.reply is not null or a.conversation is not null or a.host is not null or a.address is not null)
         and (exists (select from finished_deliveries f where f.message_id = a.message_id and f.recipient_no = a.recipient_no
                         and f.recipient_key = ${pseudonym})
              or exists (select from delivery_queue q where q.message_id = a.message_id and q.recipient_no = a.recipient_no
                            and q.recipient_key = ${key})
              or position(${key} in lower(a.reply)) > 0 or position(${quoted} in lower(a.conversation::text)) > 0)
      returning 1)
    select count(*)::int as count from own`)
}

/**
 * Maximum number of events that are changed at a time. A recipient causes as many as it likes, by opens and clicks, and one statement for
 * 100,000 took ten seconds.
 */
const MAX_EVENTS = 2000

/** Erases events, none of which is older than `since`. `more`: whether there are more than one transaction may change. */
export async function eraseEvents(
  sql: AnySql,
  { ids, accountId, key, pseudonym }: ErasedRecipient,
  since: Date,
): Promise<{ readonly count: number; readonly more: boolean }> {
  const { quoted } = escaped(key)
  const identifying = sql`exists (select from jsonb_object_keys(e.detail) name where name <> all(${RETAINED_DETAIL}::text[]))`
  return onlyRow(
    await sql<{ count: number; more: boolean }[]>`
      -- In any order: in that of their ids, each part would read all events of these messages.
      with found as materialized (
        select e.tableoid as part, e.ctid as place, e.occurred_at
          from unnest(${[...ids]}::uuid[]) as w(id)
          join events e on e.message_id = w.id and ${notByIndex(sql, sql`e.account_id = ${accountId}`)} and e.occurred_at >= ${since}
         where ${identifying}
           and (exists (select from finished_deliveries f where f.message_id = e.message_id and f.recipient_no = e.recipient_no
                           and f.recipient_key = ${pseudonym})
                or exists (select from delivery_queue q where q.message_id = e.message_id and q.recipient_no = e.recipient_no
                              and q.recipient_key = ${key})
                or position(${quoted} in lower(e.detail::text)) > 0)
         limit ${MAX_EVENTS}
      ), own as (
        update events e
           set detail = (select jsonb_object_agg(d.key, d.value) from jsonb_each(e.detail) d where d.key = any(${RETAINED_DETAIL}::text[]))
          from found
         -- By its time, only the row's own partition is read.
         where e.tableoid = found.part and e.ctid = found.place and e.occurred_at = found.occurred_at and ${identifying}
        returning 1)
      -- Found, not changed: another erasure may have changed some of them meanwhile.
      select (select count(*)::int from own) as count, (select count(*) = ${MAX_EVENTS} from found) as more`,
  )
}

/** Discards what the recipient opened and clicked and was not classified yet. */
export async function discardHits(sql: AnySql, { ids, accountId, pseudonym }: ErasedRecipient): Promise<void> {
  // A hit that is being classified is locked and skipped here; its classification waits for this transaction and then discards it
  // (tracking/classify-hits.ts).
  await sql`
    delete from hits where id in (
      select h.id from unnest(${[...ids]}::uuid[]) as w(id)
        join hits h on h.message_id = w.id
        join finished_deliveries f on f.message_id = h.message_id and f.recipient_no = h.recipient_no
       where h.account_id = ${accountId} and f.recipient_key = ${pseudonym}
         for update of h skip locked)`
}

/** Deletes idempotency keys that contain the address. */
export async function deleteKeys(sql: AnySql, { ids, accountId, key }: ErasedRecipient): Promise<void> {
  // A repeated call with this key sends a new message; the address is not kept for the sake of idempotency.
  await sql`
    delete from idempotency_keys k using unnest(${[...ids]}::uuid[]) as w(id)
     where k.message_id = w.id and ${notByIndex(sql, sql`k.account_id = ${accountId}`)}
       and position(${key} in lower(k.key)) > 0`
}

/**
 * Removes what identifies the recipient from the messages; their subjects too, if they had no other recipient. Returns the number of messages
 * that were changed.
 */
export async function eraseMessages(
  sql: AnySql,
  { ids, accountId, key }: ErasedRecipient,
  quiet: readonly string[],
): Promise<number> {
  return countOf(sql`
    with own as (
      update messages m
         set client_address = null, subject = case when subjects.hide then '' else m.subject end,
             tags = array(select tag from unnest(m.tags) tag where position(${key} in lower(tag)) = 0),
             settings = case when subjects.hide then m.settings - 'messageId' else m.settings end
        from unnest(${[...ids]}::uuid[]) as w(id)
       cross join lateral (
         select (w.id = any(${[...quiet]}::uuid[])
                 and not exists (select from finished_deliveries f where f.message_id = w.id and f.recipient_key !~ ${PSEUDONYM})) as alone
       ) others
       cross join lateral (
         select others.alone or position(${key} in lower(s.subject)) > 0 as hide from messages s where s.id = w.id
       ) subjects
       where m.id = w.id and ${notByIndex(sql, sql`m.account_id = ${accountId}`)}
         and (m.client_address is not null or (subjects.hide and (m.subject <> '' or m.settings ? 'messageId')) or position(${key} in lower(m.tags::text)) > 0)
      returning 1)
    select count(*)::int as count from own`)
}

/**
 * Discards the contents of reports on these messages that could not be read, which may name any of the recipients, and the domains and addresses of those
 * who sent a report or an automatic reply. Letters to the operator stay, without the message: an account must not discard what is written about it.
 */
export async function discardReturns(sql: AnySql, { ids }: ErasedRecipient): Promise<void> {
  await sql`
    update returns r set message_id = null, recipient_no = null, account_id = null from unnest(${[...ids]}::uuid[]) as w(id)
     where r.message_id = w.id and r.kind = 'letter'`
  await sql`
    update returns r set content = null, reporter = '', mail_from = null from unnest(${[...ids]}::uuid[]) as w(id)
     where r.message_id = w.id and (r.content is not null or r.reporter <> '' or r.mail_from is not null)`
}

/** The address as the text of json and jsonb contains it, and as JSON within JSON, which template data are. */
function escaped(key: string): { quoted: string; inData: string } {
  const quoted = JSON.stringify(key).slice(1, -1)
  return { quoted, inData: JSON.stringify(quoted).slice(1, -1) }
}

async function countOf(rows: PromiseLike<readonly unknown[]>): Promise<number> {
  return onlyRow((await rows) as readonly { count: number }[]).count
}
