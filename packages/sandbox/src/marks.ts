import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'marks.json'
/** Milliseconds in which changes are collected before they are written: reading through a list changes one after the other. */
const WRITE_MS = 500
export const MAX_TAGS = 20
const MAX_TAG = 100

/** Which messages were read, and their tags. A crash may lose the changes of the last half second. */
export class Marks {
  readonly #folder: string
  readonly #read = new Set<string>()
  readonly #tags = new Map<string, readonly string[]>()
  #timer: NodeJS.Timeout | undefined

  constructor(folder: string) {
    this.#folder = folder
    const { read = [], tags = {} } = readMarks(join(folder, FILE))
    for (const message of read) this.#read.add(String(message))
    for (const [message, names] of Object.entries(tags)) this.#tags.set(message, tagNames(names))
  }

  isRead(message: string): boolean {
    return this.#read.has(message)
  }

  tagsOf(message: string): readonly string[] {
    return this.#tags.get(message) ?? []
  }

  /** All tags with the number of their messages, by name. */
  allTags(): readonly (readonly [name: string, messages: number])[] {
    const counts = new Map<string, number>()
    for (const names of this.#tags.values()) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Returns whether it was otherwise before. */
  setRead(message: string, isRead: boolean): boolean {
    if (this.#read.has(message) === isRead) return false
    if (isRead) this.#read.add(message)
    else this.#read.delete(message)
    this.#write()
    return true
  }

  /** In place of those that the message had. */
  setTags(message: string, names: readonly string[]): void {
    const clean = tagNames(names)
    if (clean.length > 0) this.#tags.set(message, clean)
    else this.#tags.delete(message)
    this.#write()
  }

  /** Renames a tag of all messages, or removes it. */
  replaceTag(name: string, by: string | undefined): void {
    for (const [message, names] of [...this.#tags])
      if (names.includes(name))
        this.setTags(
          message,
          names.map((one) => (one === name ? (by ?? '') : one)),
        )
  }

  forget(message: string): void {
    const had = this.#read.delete(message)
    if (this.#tags.delete(message) || had) this.#write()
  }

  close(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    const file = join(this.#folder, FILE)
    const marks = { read: [...this.#read], tags: Object.fromEntries(this.#tags) }
    try {
      writeFileSync(`${file}.tmp`, JSON.stringify(marks), { mode: 0o600 })
      renameSync(`${file}.tmp`, file)
    } catch {
      // The disk is full, or the folder was removed: they are written with the next change.
    }
  }

  #write(): void {
    this.#timer ??= setTimeout(() => this.close(), WRITE_MS)
  }
}

/** Tags as Mailpit has them: other characters are left out. */
function tagNames(names: readonly unknown[]): readonly string[] {
  const clean = names.slice(0, 10 * MAX_TAGS).map((name) =>
    String(name)
      .slice(0, MAX_TAG)
      .replace(/[^\p{L}\p{N}\-._ ]/gu, '')
      .trim(),
  )
  return [...new Set(clean.filter(Boolean))].slice(0, MAX_TAGS)
}

/** Nothing if there is no such file, or if it is not whole. */
function readMarks(file: string): { read?: readonly unknown[]; tags?: Readonly<Record<string, readonly unknown[]>> } {
  try {
    const { read, tags } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    if (!Array.isArray(read) || typeof tags !== 'object' || tags === null) return {}
    const lists = Object.entries(tags).filter(([, names]) => Array.isArray(names))
    return { read, tags: Object.fromEntries(lists) }
  } catch {
    return {}
  }
}
