import { randomUUIDv7 } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'

/** What the list shows of a message. `from` and `to` are the envelope's addresses. */
export interface InboxEntry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly receivedAt: string
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
  readonly #entries: InboxEntry[]

  constructor(folder: string) {
    this.#folder = folder
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

  /** The octets as they arrived; undefined when somebody took the file away. Only an id of the list becomes a path. */
  raw(entry: InboxEntry): Buffer | undefined {
    try {
      return readFileSync(join(this.#folder, `${entry.id}.eml`))
    } catch {
      return undefined
    }
  }

  /** Resolves once the message is on disk and in the list. */
  async add(from: string, to: string, message: Buffer): Promise<InboxEntry> {
    const id = randomUUIDv7().replaceAll('-', '')
    const entry: InboxEntry = { id, from, to, subject: await subjectOf(message), receivedAt: new Date().toISOString() }
    await writeFile(join(this.#folder, `${id}.eml`), message, PRIVATE)
    await writeFile(join(this.#folder, `${id}.tmp`), JSON.stringify(entry), PRIVATE)
    await rename(join(this.#folder, `${id}.tmp`), join(this.#folder, `${id}.json`))
    this.#entries.push(entry)
    this.#trim()
    return entry
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

/** Only the header is parsed: reading a whole message costs half a millisecond and more. */
async function subjectOf(message: Buffer): Promise<string> {
  const end = message.indexOf('\r\n\r\n')
  const head = end === -1 ? message : message.subarray(0, end + 4)
  const parsed = await simpleParser(head).catch(() => undefined)
  return parsed?.subject ?? ''
}
