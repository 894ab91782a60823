import { readFileSync, statSync } from 'node:fs'
import { type ParsedMail, simpleParser } from 'mailparser'
import type { InboxEntry } from './inbox-entry.ts'
import { readBeginning } from './read-beginning.ts'
import { type ShownMessage, withoutParts } from './shown-message.ts'

/** Larger messages are only shown raw. */
const MAX_PARSED_BYTES = 5 * 1024 * 1024
/** Bytes of the source on a page. */
const MAX_SOURCE_BYTES = 256 * 1024

export interface Shown {
  readonly message: ShownMessage
  /** The From header, decoded; absent if there is none, or if the message could not be parsed. */
  readonly sender?: string
  /** The beginning of the raw message, if it could not be parsed. */
  readonly source?: string
}

/** Undefined if the message's file does not exist. */
export async function showMessage(file: string, entry: InboxEntry): Promise<Shown | undefined> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return undefined
  const parsed = size > MAX_PARSED_BYTES ? undefined : await parse(readFileSync(file))
  if (!parsed) return { message: withoutParts(entry), source: readBeginning(file, MAX_SOURCE_BYTES).toString() }
  const sender = parsed.from?.text
  return {
    ...(sender ? { sender } : {}),
    message: {
      ...entry,
      headers: parsed.headerLines.map(({ line }) => {
        const colon = line.indexOf(':')
        return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
      }),
      text: parsed.text ?? null,
      html: parsed.html || null,
      attachments: parsed.attachments.map(({ filename, contentType, size }) => ({
        fileName: filename ?? null,
        contentType,
        size,
      })),
    },
  }
}

/** Undefined if the parser rejects the message; it is then shown raw. */
async function parse(raw: Buffer): Promise<ParsedMail | undefined> {
  return simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }).catch(() => undefined)
}
