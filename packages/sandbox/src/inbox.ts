import { randomUUIDv7 } from 'node:crypto'
import { chmodSync, createWriteStream, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { InboxEntry, Row } from './inbox-entry.ts'
import { Marks } from './marks.ts'
import { readEntry } from './read-entry.ts'
import type { Beginning } from './reading/head.ts'
import type { MessageReader } from './reading/message-reader.ts'
import { messageIdOf } from './reading/return-path.ts'

/** A message that is on disk but not yet in the list. */
export interface Received extends Beginning {
  readonly file: string
  /** Identifies it among all that was received. */
  readonly id: string
  readonly size: number
}

/** Maximum number of messages; the oldest are removed. */
const MAX_MESSAGES = 10_000
/** Age after which an incomplete file was left by a crash, and is not in use by another process. */
const STALE_MS = 60_000

const MAX_HEADER = 64 * 1024

/** Mail is private: other users of this machine must not read it. */
const PRIVATE = { mode: 0o600 }
const PRIVATE_FOLDER = 0o700

/** The local inbox. Each message is a file `<id>.eml`; it is listed if its entry, `<id>.json`, exists. */
export class Inbox {
  readonly #folder: string
  readonly #reader: MessageReader
  /** By id, the oldest first. */
  readonly #entries = new Map<string, InboxEntry>()
  /** By message, in the order in which their first copies came. */
  readonly #rows = new Map<string, [InboxEntry, ...InboxEntry[]]>()
  readonly #onChange: (added?: InboxEntry) => void
  readonly marks: Marks
  /** Copies that were received since the inbox was started, and copies that were removed. */
  readonly counts = { received: 0, octets: 0, removed: 0 }

  /** `onChange` is called after messages were added or removed, with the copy that was added. */
  constructor(folder: string, reader: MessageReader, onChange: (added?: InboxEntry) => void = () => {}) {
    this.#folder = folder
    this.#reader = reader
    this.#onChange = onChange
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
    // The folder of an earlier version may be readable by others, as may be its files.
    chmodSync(folder, PRIVATE_FOLDER)
    this.marks = new Marks(folder)
    for (const entry of readEntries(folder)) this.#list(entry)
    this.#trim()
  }

  /** The newest is last. */
  list(): readonly InboxEntry[] {
    return [...this.#entries.values()]
  }

  /**
   * The copies that were listed after this one, in that order. Ids are given before files are written, so that a copy with a lower id may be listed later;
   * only if this one was removed do the ids tell.
   */
  listedAfter(id: string): readonly InboxEntry[] {
    const entries = this.list()
    const at = this.#entries.has(id) ? entries.findIndex((entry) => entry.id === id) : -1
    return at === -1 ? entries.filter((entry) => entry.id > id) : entries.slice(at + 1)
  }

  find(id: string): InboxEntry | undefined {
    return this.#entries.get(id)
  }

  /** The messages, the newest first. */
  rows(): Row[] {
    return [...this.#rows].map(([message, entries]) => ({ message, entries })).reverse()
  }

  /** The message of a copy; undefined if there is no such copy. */
  rowOf(id: string): Row | undefined {
    const message = this.#entries.get(id)?.message
    const entries = message === undefined ? undefined : this.#rows.get(message)
    return message !== undefined && entries ? { message, entries } : undefined
  }

  /** The file with the original bytes. Only ids of listed messages become paths. */
  fileOf({ id }: InboxEntry): string {
    return join(this.#folder, `${id}.eml`)
  }

  /** Undefined if the file was removed from outside. */
  async open(entry: InboxEntry): Promise<FileHandle | undefined> {
    return open(this.fileOf(entry)).catch(() => undefined)
  }

  /** Streams a message to disk, so that it is never in memory as a whole. `discard` must be called afterwards. */
  async receive(message: AsyncIterable<Buffer>): Promise<Received> {
    const id = newId()
    const file = join(this.#folder, `${id}.tmp`)
    try {
      await pipeline(message, createWriteStream(file, { ...PRIVATE, flags: 'wx' }))
      return { file, id, size: statSync(file).size, ...(await this.#reader.head(file)) }
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
  }

  /** The header of a received message, at most its first 64 KiB. */
  async headerOf({ file }: Received): Promise<Buffer> {
    await using handle = await open(file)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEADER), 0, MAX_HEADER, 0)
    const start = buffer.subarray(0, bytesRead)
    const end = start.indexOf('\r\n\r\n')
    return end === -1 ? start : start.subarray(0, end + 2)
  }

  /** Resolves once the message is listed. Its file is linked, once for each recipient. */
  async add(from: string, to: string, received: Received): Promise<InboxEntry> {
    const { file, subject, head, size, tags } = received
    const receivedAt = new Date().toISOString()
    const message = messageIdOf(from) ?? received.id
    const entry: InboxEntry = { id: newId(), from, to, subject, receivedAt, message, size, head }
    const unfinished = join(this.#folder, `${entry.id}.tmp`)
    await link(file, this.fileOf(entry))
    await writeFile(unfinished, JSON.stringify(entry), PRIVATE)
    await rename(unfinished, join(this.#folder, `${entry.id}.json`))
    this.#list(entry)
    this.counts.received++
    this.counts.octets += size
    if (tags.length > 0 && this.marks.tagsOf(message).length === 0) this.marks.setTags(message, tags)
    this.#trim()
    this.#onChange(entry)
    return entry
  }

  /** Removes the temporary file. Messages added from it remain. */
  async discard({ file }: Received): Promise<void> {
    await rm(file, { force: true })
  }

  clear(): void {
    this.delete(this.rows())
  }

  /** Removes messages with all their copies. */
  delete(rows: readonly Row[]): void {
    for (const { message, entries } of rows) {
      for (const entry of entries) this.#remove(entry)
      this.#unlist(message)
    }
    if (rows.length > 0) this.#onChange()
  }

  setRead(rows: readonly Row[], isRead: boolean): void {
    const changed = rows.filter(({ message }) => this.marks.setRead(message, isRead))
    if (changed.length > 0) this.#onChange()
  }

  /** The tags of these messages, in place of those that they had. */
  setTags(rows: readonly Row[], names: readonly string[]): void {
    for (const { message } of rows) this.marks.setTags(message, names)
    this.#onChange()
  }

  /** Renames a tag, or removes it from all messages. */
  replaceTag(name: string, by?: string): void {
    this.marks.replaceTag(name, by)
    this.#onChange()
  }

  close(): void {
    this.marks.close()
  }

  #list(entry: InboxEntry): void {
    this.#entries.set(entry.id, entry)
    const row = this.#rows.get(entry.message)
    if (row) row.push(entry)
    else this.#rows.set(entry.message, [entry])
  }

  #unlist(message: string): void {
    this.#rows.delete(message)
    this.marks.forget(message)
  }

  #trim(): void {
    for (const entry of this.#entries.values()) {
      if (this.#entries.size <= MAX_MESSAGES) return
      this.#remove(entry)
      const row = this.#rows.get(entry.message)
      // The oldest copy of all is the first of its message.
      if (row && row.length > 1) row.shift()
      else this.#unlist(entry.message)
    }
  }

  #remove({ id }: InboxEntry): void {
    this.#entries.delete(id)
    this.counts.removed++
    rmSync(join(this.#folder, `${id}.json`), { force: true })
    rmSync(join(this.#folder, `${id}.eml`), { force: true })
  }
}

/**
 * The complete messages of the folder, oldest first: ids are UUIDv7, so they sort by time of arrival. Files left incomplete by a crash
 * are removed; other files are ignored.
 */
function readEntries(folder: string): InboxEntry[] {
  const names = new Set(readdirSync(folder))
  const entries: InboxEntry[] = []
  for (const name of [...names].sort()) {
    const [, id, kind] = /^([0-9a-f]{32})\.(eml|json|tmp)$/.exec(name) ?? []
    if (id === undefined) continue
    const entry = kind === 'json' && names.has(`${id}.eml`) ? readEntry(join(folder, name), id) : undefined
    if (entry) entries.push(entry)
    else if (kind !== 'eml' || !names.has(`${id}.json`)) removeLeftOver(join(folder, name))
  }
  return entries
}

function removeLeftOver(file: string): void {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
  if (Date.now() - changed > STALE_MS) rmSync(file, { force: true })
}

function newId(): string {
  return randomUUIDv7().replaceAll('-', '')
}
