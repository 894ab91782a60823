import { longWork } from '../../platform/concurrency/turns.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { messageIdText, timeOfId } from '../../submission/message-id.ts'
import { filterOf } from './block-filter.ts'
import { entryOf, formatEntry } from './entry.ts'
import { type DeliveryRow, deliveriesWithTexts, textColumns } from './texts.ts'

/** Deliveries of a block. More make the filter unselective, fewer make more rows. */
const BLOCK = 64
/** Messages, and about how many of their deliveries, that are read at a time. */
const MESSAGES = 2000
const DELIVERIES = 4000
/**
 * Messages younger than this are not put into blocks: one that was accepted before them may not be committed yet, and would be left out. Searches
 * read them one by one.
 */
const SETTLED = '1 minute'
/** After this time, messages are put into blocks however few they are. */
const LATEST = '10 minutes'

/** Octets of the id of a message and the number of a recipient. */
export const PLACE = 20

/** Deliveries of one account with neighbouring ids. */
export interface NewBlock {
  readonly accountId: number
  /** UUIDs of the first and the last message, and the number of the first delivery. */
  readonly firstId: string
  readonly firstNo: number
  readonly lastId: string
  readonly filter: Buffer
  /** Of each delivery its message and its number, in {@link PLACE} octets. */
  readonly places: Buffer
  /** A line each (formatEntry). */
  readonly texts: string
}

/**
 * Puts the next settled messages of all accounts into blocks, which searches for words read instead of the messages. Only one process does this at a
 * time. Returns whether there may be more.
 */
export async function fillBlocks(sql: Sql): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [progress] = await transaction<{ upTo: string }[]>`
      select up_to::text as "upTo" from search_progress for update skip locked`
    if (!progress) return false
    const last = await findLast(transaction, progress.upTo)
    if (last === undefined) return false
    const rows = await transaction<(DeliveryRow & { accountId: number })[]>`
      select m.account_id as "accountId", ${textColumns(transaction)}
        from (select * from messages where id > ${progress.upTo}::uuid and id <= ${last}::uuid order by id) m
       cross join lateral (${deliveriesWithTexts(transaction)} offset 0) d
       order by m.id, d.recipient_no`
    await insertBlocks(transaction, await blocksOf(rows))
    await transaction`update search_progress set up_to = ${last}::uuid`
    return true
  }) as Promise<boolean>
}

/** Returns the message up to which the next blocks are made; undefined if it is too early for them. */
async function findLast(sql: AnySql, upTo: string): Promise<string | undefined> {
  const rows = await sql<{ id: string; isFull: boolean; isLate: boolean }[]>`
    select id::text as id, number = ${MESSAGES} or total >= ${DELIVERIES} as "isFull",
           first_value(id) over (order by id) < uuidv7_floor(service_now() - ${LATEST}::text::interval) as "isLate"
      from (select id, row_number() over (order by id) as number, sum(recipients) over (order by id) as total
              from (select id, recipients from messages
                     where id > ${upTo}::uuid and id < uuidv7_floor(service_now() - ${SETTLED}::text::interval)
                     order by id limit ${MESSAGES}) next) counted
     where total - ${DELIVERIES} < ${DELIVERIES} or number = 1
     order by id desc limit 1`
  const [row] = rows
  return row && (row.isFull || row.isLate) ? row.id : undefined
}

const WEEK_MS = 7 * 86_400_000
/** 1 January 1970 was a Thursday. */
const MONDAY_MS = 3 * 86_400_000

/** Partitions are weeks, so a block is of one. */
function weekOf(id: string): number {
  return Math.floor((timeOfId(id).getTime() + MONDAY_MS) / WEEK_MS)
}

async function blocksOf(rows: readonly (DeliveryRow & { readonly accountId: number })[]): Promise<NewBlock[]> {
  const blocks: NewBlock[] = []
  const work = longWork()
  const groups = Map.groupBy(rows, ({ accountId, id }) => `${accountId} ${weekOf(id)}`)
  for (const group of groups.values()) {
    for (let at = 0; at < group.length; at += BLOCK) {
      const block = blockOf(group.slice(at, at + BLOCK))
      if (block) blocks.push({ accountId: group[0]?.accountId ?? 0, ...block })
      const pause = work.pause()
      if (pause) await pause
    }
  }
  return blocks
}

/** Returns the block of some deliveries, in their order; undefined if there are none. */
export function blockOf(rows: readonly DeliveryRow[]): Omit<NewBlock, 'accountId'> | undefined {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) return undefined
  const entries = rows.map((row) => entryOf(row))
  return {
    firstId: first.id,
    firstNo: first.no,
    lastId: last.id,
    filter: filterOf(entries),
    places: Buffer.from(rows.map(({ id, no }) => messageIdText(id) + no.toString(16).padStart(8, '0')).join(''), 'hex'),
    texts: entries.map(formatEntry).join('\n'),
  }
}

async function insertBlocks(sql: SqlTransaction, blocks: readonly NewBlock[]): Promise<void> {
  const of = <T>(value: (block: NewBlock) => T): T[] => blocks.map(value)
  await sql`
    insert into search_blocks (account_id, first_id, first_no, last_id, filter, places, texts)
    select account_id, first_id, first_no, last_id, decode(filter, 'hex'), decode(places, 'hex'), texts
      from unnest(${of(({ accountId }) => accountId)}::int[], ${of(({ firstId }) => firstId)}::uuid[], ${of(({ firstNo }) => firstNo)}::int[],
                  ${of(({ lastId }) => lastId)}::uuid[], ${of(({ filter }) => filter.toString('hex'))}::text[],
                  ${of(({ places }) => places.toString('hex'))}::text[], ${of(({ texts }) => texts)}::text[])
           as b(account_id, first_id, first_no, last_id, filter, places, texts)`
}

/** Returns the message up to which all are in blocks. */
export async function selectProgress(sql: AnySql): Promise<string> {
  return onlyRow(await sql<{ upTo: string }[]>`select up_to::text as "upTo" from search_progress`).upTo
}
