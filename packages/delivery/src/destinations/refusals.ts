import {
  type BounceClass,
  type Core,
  isDatabaseTrouble,
  type Log,
  type NewRefused,
  type Outcome,
  type Reply,
  refusalClass,
} from '@postrider/core'
import { withoutRecipient } from './without-recipient.ts'

/** Milliseconds between two statements, and destinations and classes in one; beyond that it is made at once. */
const FLUSH_EVERY_MS = 2000
const MAX_COUNTED = 1000

interface Counted {
  readonly place: string
  readonly class: BounceClass
  permanent: number
  forNow: number
  reply: Reply
  recipient: string
}

/** Counts what destinations refuse, so that the operator sees it even if nothing waits there. Nothing is written for what they accept. */
export class Refusals {
  readonly #options: { readonly core: Core; readonly log: Log }
  #counted = new Map<string, Counted>()
  #flushing: NodeJS.Timeout | undefined

  constructor(options: { readonly core: Core; readonly log: Log }) {
    this.#options = options
  }

  add(destination: string, { recipient }: { readonly recipient: string }, outcome: Outcome): void {
    const found = refusalClass(outcome)
    if (found === undefined || outcome.kind === 'dropped') return
    const { reply } = outcome
    const key = `${found} ${destination}`
    const counted = this.#counted.get(key) ?? {
      place: destination,
      class: found,
      permanent: 0,
      forNow: 0,
      reply,
      recipient,
    }
    if (outcome.kind === 'bounced') counted.permanent++
    else counted.forNow++
    Object.assign(counted, { reply, recipient })
    this.#counted.set(key, counted)
    if (this.#counted.size >= MAX_COUNTED) void this.flush()
    else this.#flushing ??= setTimeout(() => void this.flush(), FLUSH_EVERY_MS)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    const counted = [...this.#counted.values()]
    this.#counted = new Map()
    try {
      await this.#options.core.deliveries.limits.countRefusals(counted.map(refusedOf))
    } catch (err) {
      if (!isDatabaseTrouble(err)) this.#options.log.error({ err }, 'could not count what destinations refuse')
    }
  }
}

function refusedOf({ reply: { code, enhanced, text }, recipient, ...counts }: Counted): NewRefused {
  const reply = [code, enhanced, withoutRecipient(text, recipient)].filter(Boolean).join(' ')
  return { ...counts, reply }
}
