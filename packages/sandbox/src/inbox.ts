import { randomUUIDv7 } from 'node:crypto'
import { chmodSync, createWriteStream, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { InboxEntry } from './inbox-entry.ts'
import type { MessageReader } from './message-reader.ts'

/** A message that is on disk and not yet in the list. */
export interface Received {
  readonly file: string
  readonly subject: string
}

/** Beyond this the oldest messages go. */
const MOST = 10_000
/** What is half done for longer was left by a sudden death, and is not another process's work in hand. */
const LEFT_OVER_MS = 60_000

/** Mail is private: nobody else of this machine reads it. */
const PRIVATE = { mode: 0o600 }
const PRIVATE_FOLDER = 0o700

/** The local inbox: each message a file, `<id>.eml`, with its entry beside it, `<id>.json`, which makes it count. */
export class Inbox {
  readonly #folder: string
  readonly #reader: MessageReader
  readonly #entries: InboxEntry[]

  constructor(folder: string, reader: MessageReader) {
    this.#folder = folder
    this.#reader = reader
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
    // One of an earlier version is open, and so are the files in it.
    chmodSync(folder, PRIVATE_FOLDER)
    this.#entries = readEntries(folder)
    this.#trim()
  }

  /** Newest last. */
  list(): readonly InboxEntry[] {
    return this.#entries
  }

  find(id: string): InboxEntry | undefined {
    return this.#entries.find((entry) => entry.id === id)
  }

  /** Where the octets are, as they arrived. Only an id of the list becomes a path. */
  fileOf({ id }: InboxEntry): string {
    return join(this.#folder, `${id}.eml`)
  }

  /** Undefined when somebody took the file away. */
  async open(entry: InboxEntry): Promise<FileHandle | undefined> {
    return open(this.fileOf(entry)).catch(() => undefined)
  }

  /** Writes a message to disk as it comes, so that it is nowhere in memory as a whole. To be followed by `discard`. */
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

  /** Resolves once the message is in the list: its file is linked there, once for each recipient. */
  async add(from: string, to: string, { file, subject }: Received): Promise<InboxEntry> {
    const entry: InboxEntry = { id: newId(), from, to, subject, receivedAt: new Date().toISOString() }
    const unfinished = join(this.#folder, `${entry.id}.tmp`)
    await link(file, this.fileOf(entry))
    await writeFile(unfinished, JSON.stringify(entry), PRIVATE)
    await rename(unfinished, join(this.#folder, `${entry.id}.json`))
    this.#entries.push(entry)
    this.#trim()
    return entry
  }

  /** What was added stays. */
  async discard({ file }: Received): Promise<void> {
    await rm(file, { force: true })
  }

  clear(): void {
    for (const entry of this.#entries.splice(0)) this.#remove(entry)
  }

  #trim(): void {
    for (const entry of this.#entries.splice(0, this.#entries.length - MOST)) this.#remove(entry)
  }

  #remove({ id }: InboxEntry): void {
    rmSync(join(this.#folder, `${id}.json`), { force: true })
    rmSync(join(this.#folder, `${id}.eml`), { force: true })
  }
}

/**
 * The whole messages of the folder, oldest first: ids are UUIDv7, so their order is the order of arrival. What a sudden death
 * left half done is removed; a file somebody else put there is let alone.
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
  if (Date.now() - changed > LEFT_OVER_MS) rmSync(file, { force: true })
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
