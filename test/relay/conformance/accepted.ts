import { type ParsedMail, simpleParser } from 'mailparser'
import type { TestService } from '../../helpers/service.ts'
import { queueId } from '../session.ts'

export interface Accepted {
  /** As it is delivered, without the Received field of the relay. */
  readonly text: string
  /** The same as an independent program reads it. */
  readonly read: ParsedMail
}

/** The message that a 250 speaks of. */
export async function accepted({ sql }: TestService, reply: string): Promise<Accepted> {
  const [stored] = await sql<{ content: Buffer }[]>`
    select content from bodies where message_id = ${queueId(reply)}::uuid and part = 0`
  const content = stored?.content ?? Buffer.alloc(0)
  const text = content.toString('latin1').replace(/^Received:[^\r]*(?:\r\n[ \t][^\r]*)*\r\n/, '')
  return { text, read: await simpleParser(Buffer.from(text, 'latin1')) }
}
