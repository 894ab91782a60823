import type { Sql } from '@postrider/core'
import { pause, until } from './processes.ts'

/** Milliseconds from accept to delivery of each finished message from this address. */
export async function waitsOf(sql: Sql, from: string): Promise<number[]> {
  const rows = await sql<{ milliseconds: number }[]>`
    select (extract(epoch from f.finished_at - m.accepted_at) * 1000)::float8 as milliseconds
      from finished_deliveries f join messages m on m.id = f.message_id
     where m.from_address = ${from} and f.state = 'delivered'`
  return rows.map(({ milliseconds }) => milliseconds)
}

export interface Trickle {
  readonly from: string
  readonly messages: number
  /** Milliseconds between two messages. */
  readonly every: number
  /** Seconds after which a message is taken for lost, or for waiting behind all other mail. */
  readonly patience: number
  readonly send: () => Promise<void>
}

/** Mail of a quiet account, one message after another: the milliseconds that each took from accept to delivery. */
export async function trickle(sql: Sql, { from, messages, every, patience, send }: Trickle): Promise<number[]> {
  for (let sent = 0; sent < messages; sent++) {
    await send()
    await pause(every)
  }
  await until('the quiet account to have all', async () => (await waitsOf(sql, from)).length === messages, {
    seconds: patience,
  })
  return waitsOf(sql, from)
}
