import type { AnySql } from '../../platform/database/database.ts'
import { blockOf, PLACE } from './fill-blocks.ts'
import { type DeliveryRow, deliveriesWithTexts, textColumns } from './texts.ts'

interface StoredBlock {
  readonly firstId: string
  readonly firstNo: number
  readonly places: Buffer
}

/**
 * Makes the blocks of these messages again from what is stored of their deliveries now: a person's texts are erased from them. Until the transaction ends,
 * no block is made of what it has not yet committed.
 */
export async function rebuildBlocks(sql: AnySql, accountId: number, messageIds: readonly string[]): Promise<void> {
  await sql`select from search_progress for share`
  const blocks = await sql<StoredBlock[]>`
    select distinct b.first_id::text as "firstId", b.first_no as "firstNo", b.places
      from unnest(${[...messageIds]}::uuid[]) as w(id)
     cross join lateral (
       (select first_id, first_no, last_id, places from search_blocks
         where account_id = ${accountId}::int and first_id < w.id order by first_id desc, first_no desc limit 1)
       union all
       select first_id, first_no, last_id, places from search_blocks where account_id = ${accountId}::int and first_id = w.id) b
     where b.last_id >= w.id
     order by 1, 2`
  for (const block of blocks) await rebuild(sql, accountId, block)
}

async function rebuild(sql: AnySql, accountId: number, { firstId, firstNo, places }: StoredBlock): Promise<void> {
  const at = Array.from({ length: places.length / PLACE }, (_, index) => index * PLACE)
  const rows = await sql<DeliveryRow[]>`
    select ${textColumns(sql)}
      from unnest(${at.map((start) => places.toString('hex', start, start + 16))}::uuid[], ${at.map((start) => places.readUInt32BE(start + 16))}::int[])
           as w(id, no)
     cross join lateral (select * from messages where id = w.id offset 0) m
     cross join lateral (${deliveriesWithTexts(sql, sql`and recipient_no = w.no`)} limit 1) d
     order by m.id, d.recipient_no`
  const block = blockOf(rows)
  const same = sql`account_id = ${accountId}::int and first_id = ${firstId}::uuid and first_no = ${firstNo}::int`
  // Its place in the order stays, whatever is left of it.
  await (block
    ? sql`
        update search_blocks set filter = decode(${block.filter.toString('hex')}, 'hex'), places = decode(${block.places.toString('hex')}, 'hex'),
               texts = ${block.texts}
         where ${same}`
    : sql`delete from search_blocks where ${same}`)
}
