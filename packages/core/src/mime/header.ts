/**
 * Formats header fields (RFC 5322, RFC 2047, RFC 2231), including line ends. A CR, LF or NUL in a value is an internal
 * error, because validation rejects them.
 */
const MAX_LINE = 76
const ASCII = /^[\x20-\x7e]*$/
const FORBIDDEN = /[\r\n\0]/
/** Columns reserved for the field name before the first mailbox; "Reply-To: " is the longest. */
const INDENT = 12

/** Matches a line longer than 998 characters (RFC 5322 2.1.1). */
const TOO_LONG = /.{999}/

/**
 * Formats an unstructured field such as Subject. If a word is too long to be folded, the value is encoded, which splits
 * it.
 */
export function textField(name: string, value: string): string {
  const plain = isPlain(value) ? fold(name, value) : undefined
  if (plain !== undefined && !TOO_LONG.test(plain)) return plain
  return fold(name, encodedWords(value, name.length + 2))
}

/** Fields with addresses, URLs or ids in angle brackets, which an encoded word must not contain (RFC 2047 5). */
const BRACKETED = /^(?:List-[A-Za-z-]+|In-Reply-To|References|Disposition-Notification-To|Return-Receipt-To)$/i
const IN_BRACKETS = /(<[^<>]*>)/

/** Whether an encoded word is no place for what such a field has in brackets, so that it must be foldable. */
export function isBracketed(name: string): boolean {
  return BRACKETED.test(name)
}

/** Fields that have no place for an encoded word. */
const UNENCODED = /^List-Unsubscribe(?:-Post)?$/i

/** Formats a field of a submission: of structured ones only the text outside of angle brackets is encoded. */
export function ownField(name: string, value: string): string {
  if (UNENCODED.test(name) && ASCII.test(value)) return fold(name, value)
  const parts = value.split(IN_BRACKETS)
  const isStructured =
    BRACKETED.test(name) && parts.length > 1 && parts.every((part, at) => at % 2 === 0 || ASCII.test(part))
  if (!isStructured) return textField(name, value)
  const texts = parts.map((part, at) =>
    at % 2 === 1 || isPlain(part) ? part : encodedWords(part.trim(), name.length + 2),
  )
  const field = fold(
    name,
    texts
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join(' ')
      .replaceAll(' ,', ','),
  )
  return TOO_LONG.test(field) ? textField(name, value) : field
}

const isPlain = (text: string): boolean => ASCII.test(text) && !text.includes('=?')

/** Formats a structured field whose value is already valid ASCII. */
export function rawField(name: string, value: string): string {
  return fold(name, value)
}

export interface Mailbox {
  readonly name: string
  readonly address: string
}

/** Formats an address list, one mailbox per line. */
export function mailboxField(name: string, mailboxes: readonly Mailbox[]): string {
  return check(name, `${name}: ${mailboxes.map((mailbox) => formatMailbox(mailbox)).join(',\r\n ')}\r\n`, true)
}

function formatMailbox({ name, address }: Mailbox): string {
  if (name === '') return address
  const shown = displayName(name)
  // RFC 2047 2: a line with an encoded word has at most 76 characters.
  const lastLine = shown.includes('\r\n') ? shown.slice(shown.lastIndexOf('\n') + 1) : ' '.repeat(INDENT) + shown
  return `${shown}${lastLine.length + address.length + 4 > MAX_LINE ? '\r\n ' : ' '}<${address}>`
}

function displayName(name: string): string {
  if (!ASCII.test(name) || name.includes('=?') || name.length >= 60) return encodedWords(name, INDENT)
  if (/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]+$/.test(name)) return name
  return `"${name.replace(/["\\]/g, '\\$&')}"`
}

/** Octets of a file name on one line, so that the line has at most 998. */
const MAX_QUOTED = 900

/**
 * Formats the file name for Content-Type (`name`) or Content-Disposition (`filename`). ASCII is a quoted string. Of others `filename` is by RFC
 * 2231, with continuations if it is long, and `name` has encoded words: RFC 2047 5 forbids them there, but a program that does not know RFC 2231
 * reads them.
 */
export function fileNameParameter(parameter: 'name' | 'filename', fileName: string): string {
  if (isPlain(fileName) && !/["\\]/.test(fileName) && fileName.length < MAX_QUOTED) return `${parameter}="${fileName}"`
  if (parameter === 'name') return `name="${encodedWords(fileName, ' name="'.length)}"`
  const pieces: string[] = []
  let piece = ''
  for (const char of fileName) {
    const octets = /[A-Za-z0-9!#$&+^_`{}~.-]/.test(char) ? char : percentEncoded(char)
    // A character that is split between two pieces is read as two wrong ones.
    if (piece.length + octets.length > 50) {
      pieces.push(piece)
      piece = ''
    }
    piece += octets
  }
  pieces.push(piece)
  if (pieces.length === 1) return `filename*=utf-8''${pieces[0]}`
  return pieces.map((text, at) => `filename*${at}*=${at === 0 ? "utf-8''" : ''}${text}`).join(';\r\n ')
}

function percentEncoded(char: string): string {
  return [...Buffer.from(char)].map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** RFC 2047 B encoding. Words have at most 75 characters and never split a character; `indent` is the columns before the first of them. */
export function encodedWords(text: string, indent: number): string {
  const words: string[] = []
  let chunk = ''
  let space = MAX_LINE - indent
  const flush = () => {
    words.push(`=?utf-8?B?${Buffer.from(chunk).toString('base64')}?=`)
    chunk = ''
    space = MAX_LINE - 1
  }
  for (const char of text) {
    const octets = Math.ceil(Buffer.byteLength(chunk + char) / 3) * 4
    if (chunk !== '' && octets + 12 > space) flush()
    chunk += char
  }
  flush()
  return words.join('\r\n ')
}

/** Folds at spaces (RFC 5322 2.2.3) to keep lines short; a word longer than a line is not split. */
function fold(name: string, value: string): string {
  let line = `${name}:`
  let out = ''
  const lines = value.split('\r\n ')
  for (const [at, part] of lines.entries()) {
    if (at > 0) {
      out += `${line}\r\n`
      line = ''
    }
    for (const word of part.split(' ')) {
      if (line.length + 1 + word.length > MAX_LINE && line.trim() !== '' && !line.endsWith(':') && word !== '') {
        out += `${line}\r\n`
        line = ''
      }
      line += ` ${word}`
    }
  }
  return check(name, `${out}${line}\r\n`, true)
}

function check(name: string, field: string, folded: boolean): string {
  const bare = folded ? field.slice(0, -2).replaceAll('\r\n ', '') : field
  if (FORBIDDEN.test(bare)) throw new Error(`header ${name} contains CR, LF or NUL`)
  return field
}
