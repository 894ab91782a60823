import { inflateRawSync } from 'node:zlib'
import type { Sql } from '@postrider/core'

/** Every row of every table as text, bodies as they were handed in. */
export async function dumpRows(sql: Sql): Promise<{ table: string; text: string }[]> {
  const tables = await sql<{ table: string }[]>`
    select c.oid::regclass::text as table from pg_class c
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`
  const rows: { table: string; text: string }[] = []
  for (const { table } of tables) {
    for (const { text } of await sql.unsafe(`select t::text as text from ${table} t`)) rows.push({ table, text })
  }
  const bodies = await sql<{ encoding: string; content: Buffer }[]>`select encoding, content from bodies`
  for (const { encoding, content } of bodies) {
    rows.push({ table: 'bodies', text: (encoding === 'raw' ? content : inflateRawSync(content)).toString('latin1') })
  }
  return rows
}

/** The tables in which a text stands, whatever its case. */
export async function tablesWith(sql: Sql, text: string): Promise<string[]> {
  const found = (await dumpRows(sql)).filter((row) => row.text.toLowerCase().includes(text.toLowerCase()))
  return [...new Set(found.map(({ table }) => table.replace(/_\d{4}w\d\d$/, '')))].sort()
}
