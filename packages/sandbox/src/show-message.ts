import { readFileSync, statSync } from 'node:fs'
import { type ParsedMail, simpleParser } from 'mailparser'
import type { InboxEntry } from './inbox-entry.ts'
import { readBeginning } from './read-beginning.ts'
import { type ShownMessage, withoutParts } from './shown-message.ts'

/** Above this a message is only shown raw. */
const PARSED_AT_MOST = 5 * 1024 * 1024
/** So much of the source is shown on a page. */
const SOURCE_AT_MOST = 256 * 1024

export interface Shown {
  readonly message: ShownMessage
  /** The beginning of the raw message, when it could not be parsed. */
  readonly source?: string
}

/** Undefined when the message's file is gone. */
export async function showMessage(file: string, entry: InboxEntry): Promise<Shown | undefined> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return undefined
  const parsed = size > PARSED_AT_MOST ? undefined : await parse(readFileSync(file))
  if (!parsed) return { message: withoutParts(entry), source: readBeginning(file, SOURCE_AT_MOST).toString() }
  return {
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

/** Undefined when it is so strange that the parser gives up: then there is the raw message. */
async function parse(raw: Buffer): Promise<ParsedMail | undefined> {
  return simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }).catch(() => undefined)
}
