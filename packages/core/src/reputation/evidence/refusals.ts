import type { Secrets } from '../../platform/security/secrets.ts'
import { anonymousReply, kindOfReply } from './anonymous-reply.ts'
import type { Refusal } from './evidence.ts'

/** A refused attempt. */
export interface RefusedAttempt {
  readonly code: number
  readonly enhanced: string | null
  readonly reply: string | null
  readonly startedAt: Date
  /** Null if the delivery is no longer stored. */
  readonly recipient: string | null
  readonly recipientKey: string | null
}

/** Maximum number of kinds; the texts are the provider's. */
const MAX_KINDS = 2000
const MAX_HASHES = 5
const COMMONEST = 10

interface Kind {
  latest: RefusedAttempt
  readonly reply: string
  count: number
  firstAt: Date
  readonly recipients: Set<string>
}

/** Counts refusals by their kind. */
export class Refusals {
  readonly #kinds = new Map<string, Kind>()

  add(attempt: RefusedAttempt): void {
    const { code, enhanced, startedAt, recipientKey } = attempt
    const reply = textOf(attempt)
    const all = this.#kinds
    // Beyond the bound, by its code alone.
    const named = `${code} ${enhanced ?? ''} ${kindOfReply(reply)}`
    const name = all.has(named) || all.size < MAX_KINDS ? named : `${code}`
    const kind = all.get(name)
    if (!kind) {
      const recipients = new Set(recipientKey === null ? [] : [recipientKey])
      all.set(name, { latest: attempt, reply, count: 1, firstAt: startedAt, recipients })
      return
    }
    kind.count++
    if (recipientKey !== null) kind.recipients.add(recipientKey)
    if (startedAt < kind.firstAt) kind.firstAt = startedAt
    if (startedAt > kind.latest.startedAt) kind.latest = attempt
  }

  /** Returns the commonest, most first. */
  commonest(secrets: Secrets): Refusal[] {
    const sorted = [...this.#kinds].toSorted(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1))
    return sorted.slice(0, COMMONEST).map(([, { latest, count, firstAt, recipients }]) => ({
      code: latest.code,
      enhanced: latest.enhanced ?? '',
      reply: textOf(latest),
      count,
      firstAt,
      lastAt: latest.startedAt,
      recipients: recipients.size,
      hashes: [...recipients]
        .slice(0, MAX_HASHES)
        .map((key) => secrets.pseudonym('evidence recipient', Buffer.from(key)).toString('hex', 0, 8)),
    }))
  }
}

/** Without the recipient it is unknown what must not be shown. */
function textOf({ reply, recipient }: RefusedAttempt): string {
  return reply === null || recipient === null ? '' : anonymousReply(reply, recipient)
}
