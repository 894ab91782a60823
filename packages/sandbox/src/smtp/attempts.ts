import type { Clock } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { type Behaviour, behaviourOf, domainOf } from './behaviours.ts'

/** Maximum number of deliveries whose attempts are remembered. */
const MAX_DELIVERIES = 100_000
const MINUTE_MS = 60_000

/** Remembers the attempts at each delivery, on which its behaviour depends. */
export class Attempts {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By return path and recipient. A return path belongs to one delivery, so these identify it. */
  readonly #deliveries = new Map<string, { readonly firstAt: number; tries: number }>()
  /** Recipients accepted within the present minute, by domain: only of the domains that limit them. */
  readonly #minutes = new Map<string, { readonly since: number; accepted: number }>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** The behaviour of this attempt; undefined: accept the message. */
  behaviour(recipient: string, session: SMTPServerSession): Behaviour | undefined {
    const known = this.#deliveries.get(keyOf(recipient, session))
    if (!known) return behaviourOf(recipient, { tries: 0, seconds: 0 })
    return behaviourOf(recipient, { tries: known.tries, seconds: (this.#clock.monotonic() - known.firstAt) / 1000 })
  }

  count(recipient: string, session: SMTPServerSession): void {
    const key = keyOf(recipient, session)
    const known = this.#deliveries.get(key)
    if (known) {
      known.tries++
      return
    }
    if (this.#deliveries.size >= MAX_DELIVERIES) this.#deliveries.clear()
    this.#deliveries.set(key, { firstAt: this.#clock.monotonic(), tries: 1 })
  }

  /** Counts one more recipient of the domain, unless it has accepted this number within the present minute. Returns whether it did. */
  acceptWithin(perMinute: number, recipient: string): boolean {
    const domain = domainOf(recipient)
    const now = this.#clock.monotonic()
    let minute = this.#minutes.get(domain)
    if (!minute || now - minute.since >= MINUTE_MS) {
      minute = { since: now, accepted: 0 }
      this.#minutes.set(domain, minute)
    }
    if (minute.accepted >= perMinute) return false
    minute.accepted++
    return true
  }
}

function keyOf(recipient: string, { envelope: { mailFrom } }: SMTPServerSession): string {
  return `${mailFrom ? mailFrom.address : ''} ${recipient}`
}
