import type { Socket } from 'node:net'
import { repliesOf } from './replies.ts'

/** The replies of a server, one after another, with all their lines. */
export function smtpReplies(socket: Socket): () => Promise<string> {
  return repliesOf(socket, '421 closed\r\n', (text) => /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(text)?.[0].length)
}

/** Throws unless the reply begins with this code. */
export async function expectReply(reply: Promise<string>, code: string): Promise<void> {
  const text = await reply
  if (!text.startsWith(code)) throw new Error(`expected ${code}, got ${text.trim()}`)
}
