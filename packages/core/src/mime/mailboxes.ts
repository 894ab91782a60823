import { readable } from './words.ts'

export interface Mailbox {
  /** Decoded, on one line; empty if there is none. */
  readonly name: string
  /** As written, without the angle brackets. */
  readonly email: string
  /** The text of its last comment, in which old programs write the name (RFC 5322 3.4); decoded, on one line. */
  readonly comment?: string
}

/** The content of an address field (RFC 5322 3.4). */
export interface MailboxList {
  readonly mailboxes: readonly Mailbox[]
  /** The field is a list of mailboxes and nothing else: no group, no empty element, nothing that readers interpret differently. */
  readonly plain: boolean
  /** Addresses that are a local part only, and empty ones behind a name that can be one. */
  readonly incomplete: readonly Incomplete[]
}

export interface Incomplete {
  /** Offset in the text at which it lacks `local`, `@` and a domain. */
  readonly at: number
  /** Empty where the local part is there. */
  readonly local: string
}

/** RFC 5322 3.2.3, in ASCII. */
const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
/** Characters that end an unquoted word. */
const END_OF_ATOM = /[\s()<>",:;]/g

/**
 * Reads an address field in one pass; nested comments are counted, not recursed into. Unreadable text is skipped and makes `plain`
 * false.
 */
export function readMailboxes(text: string): MailboxList {
  const reader = new Reader(text)
  reader.read()
  return { mailboxes: reader.mailboxes, plain: reader.plain, incomplete: reader.incomplete }
}

/** The field's only mailbox; undefined if there might be another one. */
export function onlyMailbox(text: string): Mailbox | undefined {
  const { mailboxes, plain } = readMailboxes(text)
  return plain && mailboxes.length === 1 ? mailboxes[0] : undefined
}

/** Characters of a name that are looked through; no address is longer. */
const MAX_NAME = 512

/**
 * Returns the offset of the angle bracket where the words after a comma, from `from` on, are perhaps the rest of a name without quotes: `John <a@b>`
 * after `Doe,`, although RFC 5322 3.2.3 wants the quotes. -1 if they begin with something else, such as another address. Looks at 512 characters.
 */
export function endOfName(text: string, from: number): number {
  const rest = text.slice(from, from + MAX_NAME)
  const open = rest.indexOf('<')
  const words = rest.slice(0, Math.max(0, open))
  const isName = !/[@":;>]/.test(words) && words.slice(words.lastIndexOf(',') + 1).trim() !== ''
  return isName ? from + open : -1
}

class Reader {
  readonly mailboxes: Mailbox[] = []
  plain = true
  readonly incomplete: Incomplete[] = []
  readonly #text: string
  #at = 0
  /** Offset after the last word. */
  #wordEnd = 0
  /** The text before the angle bracket: pieces of words, and blanks between words. */
  #phrase: string[] = []
  /** The same as written, quotes included, as long as it is one word: an address without angle brackets. */
  #bare: string[] = []
  #words = 0
  #apart = true
  #email: string | undefined
  #remark: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  read(): void {
    while (this.#at < this.#text.length) this.#step(this.#text[this.#at] as string)
    this.#end()
  }

  #step(char: string): void {
    if (char === '(') this.#comment()
    else if (char === '"') this.#quoted()
    else if (char === '<') this.#bracketed()
    else if (char === ',') this.#end()
    else if (char === ':' || char === ';') this.#group()
    else if (char === ')' || char === '>') this.#doubt()
    else if (/\s/.test(char)) {
      this.#apart = true
      this.#at++
    } else this.#atom()
  }

  #doubt(): void {
    this.plain = false
    this.#at++
  }

  #comment(): void {
    const start = this.#at + 1
    let depth = 0
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at]
      if (char === '\\') this.#at++
      else if (char === '(') depth++
      else if (char === ')' && --depth === 0) break
    }
    if (depth > 0) this.plain = false
    else this.#remark = this.#text.slice(start, this.#at)
    this.#at++
    this.#apart = true
  }

  #quoted(): void {
    const end = endOfQuoted(this.#text, this.#at)
    if (end === -1) {
      this.plain = false
      this.#at = this.#text.length
      return
    }
    const written = this.#text.slice(this.#at, end)
    this.#word(written, written.slice(1, -1).replace(/\\(.)/gs, '$1'))
    this.#at = end
  }

  #atom(): void {
    END_OF_ATOM.lastIndex = this.#at
    const end = END_OF_ATOM.exec(this.#text)?.index ?? this.#text.length
    const written = this.#text.slice(this.#at, end)
    this.#word(written, written)
    this.#at = end
    this.#wordEnd = end
  }

  #word(written: string, value: string): void {
    // Only a comma may follow the address.
    if (this.#email !== undefined) this.plain = false
    if (this.#apart) {
      if (this.#words > 0) this.#phrase.push(' ')
      this.#words++
    }
    this.#phrase.push(value)
    this.#bare.push(written)
    this.#apart = false
  }

  #bracketed(): void {
    let start = this.#at + 1
    let end = start
    for (; end < this.#text.length && this.#text[end] !== '>'; end++) {
      if (this.#text[end] === '"') {
        const after = endOfQuoted(this.#text, end)
        end = after === -1 ? this.#text.length : after - 1
      } else if (this.#text[end] === '<') {
        this.plain = false
        start = end + 1
      }
    }
    if (end >= this.#text.length || this.#email !== undefined) this.plain = false
    else {
      const written = this.#text.slice(start, end)
      const phrase = this.#phrase.join('')
      this.#email = written.trim()
      if (isLocalPart(this.#email)) this.incomplete.push({ at: start + written.trimEnd().length, local: '' })
      else if (this.#email === '' && isLocalPart(phrase)) this.incomplete.push({ at: end, local: phrase })
    }
    this.#at = end + 1
    this.#apart = true
  }

  /** The name of a group is ignored; its members count as members of the list. */
  #group(): void {
    if (this.#text[this.#at] === ';') this.#end()
    else {
      this.#clear()
      this.#at++
    }
    this.plain = false
  }

  #end(): void {
    this.#at++
    const bare = this.#words === 1 ? this.#bare.join('') : undefined
    if (this.#email !== undefined) {
      this.mailboxes.push({ email: this.#email, name: readable(this.#phrase.join('')).trim(), ...this.#said() })
    } else if (bare?.includes('@')) this.mailboxes.push({ email: bare, name: '', ...this.#said() })
    else {
      this.plain = false
      if (bare !== undefined && isLocalPart(bare)) this.incomplete.push({ at: this.#wordEnd, local: '' })
    }
    this.#clear()
  }

  #said(): Pick<Mailbox, 'comment'> {
    return this.#remark === undefined ? {} : { comment: readable(this.#remark.replace(/\\(.)/gs, '$1')).trim() }
  }

  #clear(): void {
    this.#remark = undefined
    this.#phrase = []
    this.#bare = []
    this.#words = 0
    this.#apart = true
    this.#email = undefined
  }
}

/**
 * Whether a word without a domain may be a user of a machine or an alias there: a local part without capital letters, or in capitals as a whole
 * (`MAILER-DAEMON`). `Demo` and `Sales` are rather names for people; with a domain they would be addresses that do not exist.
 */
export function isUserName(word: string): boolean {
  return isLocalPart(word) && !/^[A-Z].*[a-z]/.test(word)
}

/** Encoded words consist of the same characters. */
function isLocalPart(text: string): boolean {
  return DOT_ATOM.test(text) && !text.includes('=?')
}

/** Offset after the closing quote; -1 if there is none. */
function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return -1
}
