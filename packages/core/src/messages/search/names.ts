import type { AnySql } from '../../platform/database/database.ts'
import type { MessageSearch, Names } from './search.ts'

type Filter = MessageSearch & { readonly accountId: number | undefined }

/** Seconds around that of a TRANSID: the message's id may be of the next, and hosts that accept much take the number some time before. */
const AROUND = 30

/**
 * Replaces terms that name a message, or a recipient that there are deliveries to: an id of 32 hex digits may also be the client's own reference. A
 * term with the key `id` that names nothing finds nothing.
 */
export async function withNames(sql: AnySql, filter: Filter): Promise<Filter> {
  const { not } = filter
  let named: Filter = not ? { ...filter, not: await Promise.all(not.map((one) => namedIn(sql, filter, one))) } : filter
  for (const term of filter.words ?? []) {
    if (!term.names) continue
    const found = await lookUp(sql, filter.accountId, term.names)
    const isFree = found && Object.keys(found).every((key) => named[key as keyof Filter] === undefined)
    if (!isFree && term.field !== 'header') continue
    const words = (named.words ?? []).filter((one) => one !== term)
    const { words: _, ...others } = named
    named = { ...others, ...(words.length > 0 ? { words } : {}), ...(isFree ? found : { messageId: '' }) }
  }
  return named
}

/** An excluded term that names something excludes what it names. */
async function namedIn(sql: AnySql, { accountId }: Filter, excluded: MessageSearch): Promise<MessageSearch> {
  const [term] = excluded.words ?? []
  return (term?.names && (await lookUp(sql, accountId, term.names))) ?? excluded
}

/** Whether a search names a message, which may be the one that was just sent. */
export function namesMessage({ messageId, words = [] }: MessageSearch): boolean {
  return messageId !== undefined || words.some(({ names }) => names !== undefined)
}

type Named = Pick<MessageSearch, 'messageId' | 'recipientNo' | 'recipientKey'>

async function lookUp(sql: AnySql, accountId: number | undefined, names: Names): Promise<Named | undefined> {
  const { messageId, transactionNumber, recipientKey } = names
  const own = accountId === undefined ? sql`` : sql`and account_id = ${accountId}::int`
  if (messageId !== undefined) {
    const rows = await sql`select from messages where id = ${messageId}::uuid ${own}`
    if (rows.length > 0) return { messageId }
  }
  if (transactionNumber !== undefined) {
    const second = Number(transactionNumber.slice(0, -7))
    const [row] = await sql<{ messageId: string; recipientNo: number }[]>`
      select id::text as "messageId", ((${transactionNumber}::bigint - transaction_base) / 4)::int as "recipientNo" from messages
       where id >= uuidv7_floor(to_timestamp(${second - AROUND}::float8)) and id < uuidv7_floor(to_timestamp(${second + AROUND}::float8))
         and transaction_base <= ${transactionNumber}::bigint and transaction_base + 4 * recipients > ${transactionNumber}::bigint
         and (${transactionNumber}::bigint - transaction_base) % 4 = 0 ${own} limit 1`
    if (row) return row
  }
  if (recipientKey !== undefined) {
    const hash = sql`hashtextextended(recipient_key, account_id) = hashtextextended(${recipientKey}::text, a.id)`
    const same = sql`recipient_key = ${recipientKey}::text and account_id = a.id`
    const [row] = await sql<{ found: boolean }[]>`
      select true as found from accounts a
       where ${accountId === undefined ? sql`true` : sql`a.id = ${accountId}::int`}
         and (exists (select from finished_deliveries where ${hash} and ${same})
              or exists (select from delivery_queue where worker_id is null and ${hash} and ${same})
              or exists (select from delivery_queue where worker_id is not null and ${same})) limit 1`
    if (row) return { recipientKey }
  }
  return undefined
}
