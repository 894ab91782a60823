import { statSync } from 'node:fs'
import { simpleParser } from 'mailparser'
import { textOf } from './html-parts.ts'
import { readBeginning } from './read-beginning.ts'
import { readableMessage } from './readable-message.ts'

/** Data for the list and the search that is read from the message itself. */
export interface Digest {
  /** The From header, decoded. */
  readonly sender: string
  /** The name in it, otherwise its address. */
  readonly name: string
  /** The beginning of the text. */
  readonly preview: string
  readonly attachments: number
  /** Bytes of the message. */
  readonly size: number
}

/** The digest of a message that takes too much to read. */
export const EMPTY_DIGEST: Digest = { sender: '', name: '', preview: '', attachments: 0, size: 0 }

/** Attachments that begin later are not counted. */
const MAX_READ_BYTES = 1024 * 1024
const MAX_SENDER = 200
const MAX_PREVIEW = 140
/** Enough for a preview, after white space is removed. */
const PREVIEW_SOURCE = 4000

/** Reads the beginning of a message. Undefined if the file does not exist. */
export async function readDigest(file: string): Promise<Digest | undefined> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return undefined
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }
  const parsed = await simpleParser(readableMessage(readBeginning(file, MAX_READ_BYTES)), options).catch(
    () => undefined,
  )
  if (!parsed) return { ...EMPTY_DIGEST, size }
  const text = parsed.text?.trim() ? parsed.text : textOf(parsed.html || '', PREVIEW_SOURCE)
  return {
    sender: (parsed.from?.text ?? '').slice(0, MAX_SENDER),
    name: (parsed.from?.value[0]?.name || parsed.from?.value[0]?.address || '').slice(0, MAX_SENDER),
    preview: text.slice(0, PREVIEW_SOURCE).replace(/\s+/g, ' ').trim().slice(0, MAX_PREVIEW),
    attachments: parsed.attachments.length,
    size,
  }
}
