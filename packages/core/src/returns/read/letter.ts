import { readHeader, readLeaves } from '../../mime/read-leaves.ts'
import { decodeWords } from '../../mime/words.ts'
import { addressIn } from './address-in.ts'
import { humanText } from './human-text.ts'
import { marksOf, originalsOf } from './original.ts'

/** Characters of a field, of a subject, and of the text. */
const [MAX_FIELD, MAX_SUBJECT, MAX_TEXT] = [1000, 200, 64 * 1024]

/** The sender, subject and text of a letter to the operator, all unverified; empty if it has none. */
export interface Letter {
  /** The address to reply to: of Reply-To, otherwise of From. */
  readonly author: string
  /** On one line, without control characters. */
  readonly subject: string
  /** Its text, with LF as line end. */
  readonly text: string
  /** X-PR-Ref, which messages that this service has sent have. */
  readonly references: readonly string[]
  /** X-PR-Ref of messages that it has attached, or quotes with their headers. */
  readonly attached: readonly string[]
}

/** Reads a letter, in time linear to its length, and never throws. */
export function readLetter(raw: Buffer): Letter {
  const fields = readHeader(raw)
  const addressOf = (name: string) => addressIn((fields.get(name) ?? '').slice(0, MAX_FIELD))
  const message = readLeaves(raw)
  const text = humanText(message).whole
  const subject = decodeWords((fields.get('subject') ?? '').slice(0, MAX_FIELD))
  return {
    author: addressOf('reply-to') ?? addressOf('from') ?? '',
    subject: subject
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim()
      .slice(0, MAX_SUBJECT)
      .toWellFormed(),
    text: text.slice(0, MAX_TEXT).replaceAll('\0', '').toWellFormed(),
    references: fields.all('x-pr-ref').slice(0, 5),
    attached: marksOf(originalsOf(message, text)).references,
  }
}
