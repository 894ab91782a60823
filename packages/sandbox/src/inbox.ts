import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
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

/** The local inbox: each message a file, `<id>.eml`, with its entry beside it, `<id>.json`. */
export class Inbox {
  readonly #folder: string
  readonly #entries: InboxEntry[] = []

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    // Ids are UUIDv7, so their order is the order of arrival.
    for (const name of readdirSync(folder).sort()) {
      if (!name.endsWith('.json')) continue
      this.#entries.push(JSON.parse(readFileSync(join(folder, name), 'utf8')) as InboxEntry)
    }
  }

  /** Newest last. */
  list(): readonly InboxEntry[] {
    return this.#entries
  }

  find(id: string): InboxEntry | undefined {
    return this.#entries.find((entry) => entry.id === id)
  }

  /** The octets as they arrived. The id must be one of the list's; it never becomes a path otherwise. */
  raw(entry: InboxEntry): Buffer {
    return readFileSync(join(this.#folder, `${entry.id}.eml`))
  }

  /** Resolves once the message is on disk and in the list. */
  async add(from: string, to: string, message: Buffer): Promise<InboxEntry> {
    const id = randomUUIDv7().replaceAll('-', '')
    const entry: InboxEntry = { id, from, to, subject: await subjectOf(message), receivedAt: new Date().toISOString() }
    await writeFile(join(this.#folder, `${id}.eml`), message)
    await writeFile(join(this.#folder, `${id}.tmp`), JSON.stringify(entry))
    await rename(join(this.#folder, `${id}.tmp`), join(this.#folder, `${id}.json`))
    this.#entries.push(entry)
    while (this.#entries.length > MOST) this.#remove(this.#entries.shift())
    return entry
  }

  clear(): void {
    for (const entry of this.#entries.splice(0)) this.#remove(entry)
  }

  #remove(entry: InboxEntry | undefined): void {
    if (!entry) return
    rmSync(join(this.#folder, `${entry.id}.eml`), { force: true })
    rmSync(join(this.#folder, `${entry.id}.json`), { force: true })
  }
}

/** Only the header is parsed: reading a whole message costs half a millisecond and more. */
async function subjectOf(message: Buffer): Promise<string> {
  const end = message.indexOf('\r\n\r\n')
  const head = end === -1 ? message : message.subarray(0, end + 4)
  const parsed = await simpleParser(head).catch(() => undefined)
  return parsed?.subject ?? ''
}
