import type { SMTPServerSession } from 'smtp-server'
import { type Behaviour, behaviourOf } from './behaviours.ts'

/** Maximum number of deliveries whose attempts are counted. */
const MAX_TRIES = 100_000

/** Counts the attempts at each delivery, on which its behaviour depends. */
export class Attempts {
  /** Attempts by return path and recipient. A return path belongs to one delivery, so these identify it. */
  readonly #tries = new Map<string, number>()

  /** The behaviour of this attempt; undefined: accept the message. */
  behaviour(recipient: string, session: SMTPServerSession): Behaviour | undefined {
    return behaviourOf(recipient, this.#tries.get(keyOf(recipient, session)) ?? 0)
  }

  count(recipient: string, session: SMTPServerSession): void {
    if (this.#tries.size >= MAX_TRIES) this.#tries.clear()
    const key = keyOf(recipient, session)
    this.#tries.set(key, (this.#tries.get(key) ?? 0) + 1)
  }
}

function keyOf(recipient: string, { envelope: { mailFrom } }: SMTPServerSession): string {
  return `${mailFrom ? mailFrom.address : ''} ${recipient}`
}
