import { parameterText } from '../../mime/parameters.ts'
import { parametersIn } from '../../mime/read.ts'
import { type Leaf, type Leaves, readHeader, readLeaves } from '../../mime/read-leaves.ts'
import { decodeWords } from '../../mime/words.ts'
import { addressIn } from './address-in.ts'
import { humanText } from './human-text.ts'
import { isOriginal } from './original.ts'

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
  /** Possible marks of messages that it has attached or quotes. None of them is verified. */
  readonly mentioned: Mentioned
}

/** Texts that this service may have signed, each once. */
export interface Mentioned {
  /** The local parts of return paths and values of X-PR-Ref. */
  readonly marks: readonly string[]
  /** The tokens of links in it. */
  readonly tokens: readonly string[]
}

/** Texts of each kind that are kept. A newsletter that is passed on has a link for each of its articles. */
const MAX_MENTIONED = 20
/** Octets of each part, and depth of messages within messages. */
const [MAX_PART, MAX_DEPTH] = [128 * 1024, 3]
const MARK = /\b[bc]-[a-z2-7]{50}\b/gi
/** Some filters write links into links of their own. */
const TOKEN = /(?:\/|%2f)t(?:\/|%2f)[a-z](?:\/|%2f)([\w-]{60,4096})/gi

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
    mentioned: mentionedIn(message),
  }
}

/** Mail programs attach a message as such, as a file, or quote it: with its header, or only with its text, whose links have our tokens. */
function mentionedIn(message: Leaves): Mentioned {
  const [marks, tokens] = [new Set<string>(), new Set<string>()]
  for (const text of textsIn(message, 0)) {
    for (const [mark] of text.matchAll(MARK)) if (marks.size < MAX_MENTIONED) marks.add(mark.toLowerCase())
    for (const [, token = ''] of text.matchAll(TOKEN)) if (tokens.size < MAX_MENTIONED) tokens.add(token)
  }
  return { marks: [...marks], tokens: [...tokens] }
}

function* textsIn(message: Leaves, depth: number): Generator<string> {
  for (const leaf of message.leaves) {
    if (isMessage(leaf)) {
      const octets = leaf.octets(MAX_PART)
      yield octets.toString('latin1', 0, MAX_TEXT)
      if (depth < MAX_DEPTH) yield* textsIn(readLeaves(octets), depth + 1)
      continue
    }
    // Some servers attach a message so that its header is that of the part.
    if (isOriginal(leaf, message)) yield [...leaf.fields.all('x-pr-ref'), ...leaf.fields.all('return-path')].join(' ')
    if (leaf.type.startsWith('text/')) yield leaf.text(MAX_PART)
  }
}

const MESSAGE_TYPE = /^(message\/(rfc822|global|partial)|(text|message)\/(rfc822|global)-headers)$/

function isMessage({ type, fields }: Leaf): boolean {
  if (MESSAGE_TYPE.test(type)) return true
  const nameIn = (field: string, name: string) =>
    parameterText(parametersIn((fields.get(field) ?? '').slice(0, MAX_FIELD)), name) ?? ''
  return /\.eml$/i.test(nameIn('content-disposition', 'filename') || nameIn('content-type', 'name'))
}
