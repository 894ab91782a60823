import { inflateSync } from 'node:zlib'
import type { LinkPage, Sql } from '@postrider/core'

/** The token of the last link to this page that was sent to an address. */
export async function mailedLink(sql: Sql, email: string, page: LinkPage): Promise<string> {
  const found = await mailedText(sql, email)
  const token = new RegExp(`/app/${page}\\?token=([\\w-]{43})`).exec(found ?? '')?.[1]
  if (!token) throw new Error(`no link to ${page} was sent to ${email}: ${found}`)
  return token
}

/** The text of the last message to an address. */
export async function mailedText(sql: Sql, email: string): Promise<string | undefined> {
  const [row] = await sql<{ content: Buffer; encoding: string }[]>`
    select b.content, b.encoding from delivery_queue q join bodies b on b.message_id = q.message_id and b.part = 0
     where q.recipient = ${email} order by q.message_id desc limit 1`
  return row && (row.encoding === 'deflate' ? inflate(row.content) : row.content).toString()
}

function inflate(content: Buffer): Buffer {
  return inflateSync(content)
}
