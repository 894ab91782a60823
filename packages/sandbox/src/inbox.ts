import { randomUUIDv7 } from 'node:crypto'
import { chmodSync, createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { InboxEntry } from './inbox-entry.ts'
import type { MessageReader } from './reading/message-reader.ts'

/** A message that is on disk but not yet in the list. */
export interface Received {
  readonly file: string
  readonly subject: string
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
  readonly #entries: InboxEntry[]
  readonly #onChange: () => void

  /** `onChange` is called after messages were added or removed. */
  constructor(folder: string, reader: MessageReader, onChange: () => void = () => {}) {
    this.#folder = folder
    this.#reader = reader
    this.#onChange = onChange
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
    // The folder of an earlier version may be readable by others, as may be its files.
    chmodSync(folder, PRIVATE_FOLDER)
    this.#entries = readEntries(folder)
    this.#trim()
  }

  /** The newest is last. */
  list(): readonly InboxEntry[] {
    return this.#entries
  }

  find(id: string): InboxEntry | undefined {
    return this.#entries.find((entry) => entry.id === id)
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
    const file = join(this.#folder, `${newId()}.tmp`)
    try {
      await pipeline(message, createWriteStream(file, { ...PRIVATE, flags: 'wx' }))
      return { file, subject: await this.#reader.subject(file) }
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
  async add(from: string, to: string, { file, subject }: Received): Promise<InboxEntry> {
    const entry: InboxEntry = { id: newId(), from, to, subject, receivedAt: new Date().toISOString() }
    const unfinished = join(this.#folder, `${entry.id}.tmp`)
    await link(file, this.fileOf(entry))
    await writeFile(unfinished, JSON.stringify(entry), PRIVATE)
    await rename(unfinished, join(this.#folder, `${entry.id}.json`))
    this.#entries.push(entry)
    this.#trim()
    this.#onChange()
    return entry
  }

  /** Removes the temporary file. Messages added from it remain. */
  async discard({ file }: Received): Promise<void> {
    await rm(file, { force: true })
  }

  clear(): void {
    for (const entry of this.#entries.splice(0)) this.#remove(entry)
    this.#onChange()
  }

  /** Removes one message. Returns false if it is not listed. */
  delete(id: string): boolean {
    const at = this.#entries.findIndex((entry) => entry.id === id)
    const [entry] = at === -1 ? [] : this.#entries.splice(at, 1)
    if (!entry) return false
    this.#remove(entry)
    this.#onChange()
    return true
  }

  #trim(): void {
    for (const entry of this.#entries.splice(0, this.#entries.length - MAX_MESSAGES)) this.#remove(entry)
  }

  #remove({ id }: InboxEntry): void {
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

function readEntry(file: string, id: string): InboxEntry | undefined {
  try {
    const { from, to, subject, receivedAt } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return { id, from: String(from), to: String(to), subject: String(subject), receivedAt: String(receivedAt) }
  } catch {
    return undefined
  }
}

function newId(): string {
  return randomUUIDv7().replaceAll('-', '')
}
