import { statSync } from 'node:fs'
import { simpleParser } from 'mailparser'
import { textOf } from './html-parts.ts'
import { readBeginning } from './read-beginning.ts'
import { readableMessage } from './readable-message.ts'

/** Data for the list and the search that is read from the message's body. */
export interface Digest {
  /** The beginning of the text. */
  readonly preview: string
  /** More of it, in lower case, for the search. */
  readonly text: string
  readonly attachments: number
  /** Of the attachments, those that the HTML shows. */
  readonly inline: number
  readonly hasHtml: boolean
}

/** The digest of a message that takes too much to read. */
export const EMPTY_DIGEST: Digest = { preview: '', text: '', attachments: 0, inline: 0, hasHtml: false }

/** Attachments that begin later are not counted. */
const MAX_READ_BYTES = 1024 * 1024
const MAX_PREVIEW = 250
/** The inbox keeps these of 10,000 messages: 40 MB at most. */
const MAX_TEXT = 2000
/** Enough for the text, after white space is removed. */
const TEXT_SOURCE = 8000

/** Reads the beginning of a message. Undefined if the file does not exist. */
export async function readDigest(file: string): Promise<Digest | undefined> {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }
  const parsed = await simpleParser(readableMessage(readBeginning(file, MAX_READ_BYTES)), options).catch(
    () => undefined,
  )
  if (!parsed) return EMPTY_DIGEST
  const source = parsed.text?.trim() ? parsed.text : textOf(parsed.html || '', TEXT_SOURCE)
  const text = source.slice(0, TEXT_SOURCE).replace(/\s+/g, ' ').trim()
  return {
    preview: text.slice(0, MAX_PREVIEW),
    text: text.slice(0, MAX_TEXT).toLowerCase(),
    attachments: parsed.attachments.length,
    inline: parsed.attachments.filter(({ related, contentDisposition }) => related || contentDisposition === 'inline')
      .length,
    hasHtml: Boolean(parsed.html),
  }
}
