import { longWork } from '../../platform/concurrency/turns.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { parseMessageId } from '../../submission/message-id.ts'
import { type TermTest, testOf } from './block-filter.ts'
import { hasAll, parseEntry, type Terms } from './entry.ts'
import { PLACE } from './fill-blocks.ts'

type Fragment = ReturnType<AnySql>

/** A delivery's position in lists: by message id and recipient number, both descending. */
export interface Position {
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
}

/** A part of the blocks: from message `from` on, before the position `after`. */
export interface BlockRange {
  readonly accountId: number
  readonly from: string
  readonly after: Position
  /** The first block, by its first delivery; undefined: the one that has `from`. */
  readonly floor?: Position | undefined
}

/** Terms that filters are asked about; the others are looked for in the texts of the blocks that these leave. */
const MAX_TESTS = 4

/** Returns the last of the next `count` blocks, as the end of what a statement reads; undefined if the range has fewer. */
export async function blockFloor(sql: AnySql, range: BlockRange, count: number): Promise<Position | undefined> {
  const rows = await sql<Position[]>`
    select first_id::text as "messageId", first_no as "recipientNo" from search_blocks where ${within(sql, range)}
     order by first_id desc, first_no desc offset ${count - 1} limit 1`
  return rows[0]
}

/**
 * Returns the deliveries that have the terms, of the next `limit` blocks that may have some, newest first; and how many deliveries these are. `next`: where
 * there may be more.
 */
export async function findInBlocks(
  sql: AnySql,
  range: BlockRange,
  terms: Terms,
  limit: number,
): Promise<{ readonly positions: Position[]; readonly deliveries: number; readonly next: Position | undefined }> {
  const tests = (terms.words ?? []).flatMap((term) => testOf(term) ?? [])
  tests.sort((one, other) => other.text.length - one.text.length)
  const rows = await sql<{ firstId: string; firstNo: number; places: Buffer; texts: string }[]>`
    select first_id::text as "firstId", first_no as "firstNo", places, texts from search_blocks
     where ${within(sql, range)} ${conditions(sql, tests.slice(0, MAX_TESTS))}
     order by first_id desc, first_no desc limit ${limit}`
  const positions: Position[] = []
  let deliveries = 0
  const work = longWork()
  for (const { places, texts } of rows) {
    const pause = work.pause()
    if (pause) await pause
    const entries = texts.split('\n')
    deliveries += entries.length
    for (let index = entries.length - 1; index >= 0; index--) {
      if (!hasAll(parseEntry(entries[index] ?? ''), terms)) continue
      const position = positionIn(places, index)
      if (position.messageId >= range.from && isBefore(position, range.after)) positions.push(position)
    }
  }
  const last = rows.length === limit ? rows.at(-1) : undefined
  return { positions, deliveries, next: last && { messageId: last.firstId, recipientNo: last.firstNo } }
}

/** Blocks that begin before the position. By the index alone. */
function within(sql: AnySql, { accountId, from, after, floor }: BlockRange): Fragment {
  const first = floor
    ? sql`first_id >= ${floor.messageId}::uuid and (first_id, first_no) >= (${floor.messageId}::uuid, ${floor.recipientNo}::int)`
    : sql`first_id >= coalesce((
            -- A block that begins before the range may reach into it, and so may those before it of the same message.
            select first_id from search_blocks where account_id = ${accountId}::int and first_id < ${from}::uuid
             order by first_id desc limit 1), ${from}::uuid)`
  return sql`
    account_id = ${accountId}::int and ${first}
    and first_id <= ${after.messageId}::uuid and (first_id, first_no) < (${after.messageId}::uuid, ${after.recipientNo}::int)`
}

/** The conditions on the filter and the texts. A filter is asked first: it is short, and in the row. */
function conditions(sql: AnySql, tests: readonly TermTest[]): Fragment {
  const both = (sum: Fragment, one: Fragment): Fragment => sql`${sum} and ${one}`
  const has = (bit: number): Fragment => sql`get_bit(filter, ${bit}::bigint % (octet_length(filter) * 8)) = 1`
  const all = (bits: readonly number[]): Fragment => bits.map(has).reduce<Fragment>(both, sql`true`)
  const filters = tests.map(({ bits: [one, other] }): Fragment => sql`(${all(one)} or ${all(other)})`)
  const texts = tests.map(({ text }): Fragment => sql`strpos(texts, ${text}::text) > 0`)
  // A case, since the planner would have the texts read first: that is one call of a function, and a filter is eight.
  return tests.length === 0
    ? sql``
    : sql`and case when ${filters.reduce<Fragment>(both, sql`true`)} then ${texts.reduce<Fragment>(both, sql`true`)} end`
}

function positionIn(places: Buffer, index: number): Position {
  const at = index * PLACE
  return {
    messageId: parseMessageId(places.toString('hex', at, at + 16)) ?? '',
    recipientNo: places.readUInt32BE(at + 16),
  }
}

function isBefore({ messageId, recipientNo }: Position, after: Position): boolean {
  return messageId < after.messageId || (messageId === after.messageId && recipientNo < after.recipientNo)
}
