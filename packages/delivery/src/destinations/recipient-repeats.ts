import { type ClaimedDelivery, type Core, isDatabaseTrouble, type Log, type Repeated } from '@postrider/core'

/** Cells that deliveries are counted in by account and recipient. A cell that two share causes some more rows to be written. */
const CELLS = 1 << 20
/** Deliveries to one recipient that are not reported: few get a third message within the time. */
const UNREPORTED = 2
const GENERATION_MS = 600_000
/** Milliseconds between two reports, and deliveries in one: of a flood, some suffice. */
const REPORT_EVERY_MS = 1000
const MAX_REPORTED = 1000

export interface RecipientRepeatsOptions {
  readonly core: Core
  readonly log: Log
}

/**
 * Notices recipients who get one message again and again (core/reputation/repeats.ts). Nearly all deliveries cost a hash and a count in memory;
 * the database learns only of recipients with several within ten minutes.
 */
export class RecipientRepeats {
  readonly #options: RecipientRepeatsOptions
  readonly #cells = new Uint8Array(CELLS)
  #repeated: Repeated[] = []
  #cleared = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor(options: RecipientRepeatsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#report(), REPORT_EVERY_MS)
  }

  /** A delivery is about to be tried for the first time. */
  add({ accountId, recipient, messageId, recipientNo }: ClaimedDelivery): void {
    const cell = hashOf(accountId, recipient) & (CELLS - 1)
    const count = this.#cells[cell] as number
    if (count < UNREPORTED) {
      this.#cells[cell] = count + 1
      return
    }
    if (this.#repeated.length >= MAX_REPORTED) return
    const hash = this.#options.core.deliveries.recipientHash(recipient)
    this.#repeated.push({ accountId, recipient: hash, messageId, recipientNo })
  }

  async #report(): Promise<void> {
    if (performance.now() - this.#cleared >= GENERATION_MS) {
      this.#cells.fill(0)
      this.#cleared = performance.now()
    }
    if (this.#repeated.length === 0) return
    const repeated = this.#repeated
    this.#repeated = []
    const { core, log } = this.#options
    try {
      for (const accountId of await core.reputation.noteRepeats(repeated))
        log.warn({ accountId }, 'mail to a recipient is held: it got one message again and again')
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not count repeated messages')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** FNV-1a. */
function hashOf(accountId: number, recipient: string): number {
  let hash = 0x811c9dc5 ^ accountId
  for (let at = 0; at < recipient.length; at++) hash = Math.imul(hash ^ recipient.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 16)
}
