import { randomUUID } from 'node:crypto'
import { readTrackingToken, type TrackingTarget } from '../composition/links/token.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createTurns } from '../platform/semaphore.ts'
import { plainUserAgent } from './hit.ts'
import { judgeHits } from './judge-hits.ts'
import { machineRule, type TrackingRequest } from './machine-rules.ts'
import { takerOf } from './take-hits.ts'
import { type SenderOfMessage, senderOf, type Unsubscribed, unsubscribe } from './unsubscribe.ts'

export { optOutHash } from '../composition/links/links.ts'
export { makeTrackingToken, type TrackingTarget } from '../composition/links/token.ts'
export { HITS_AN_HOUR } from './judge-hits.ts'
export { MACHINE_RULES_VERSION, REQUEST_RULES } from './machine-rules.ts'
export type { SenderOfMessage, Unsubscribed } from './unsubscribe.ts'

/** What readers do with the mail they got. */
export interface Tracking {
  /** What a token of a link stands for; undefined: it was not made here, or is for something else. */
  read(kind: TrackingTarget['kind'], token: string): TrackingTarget | undefined
  /**
   * Notes an open or click. Answers once it is stored; but a reader does not wait longer than two seconds for the database, nor
   * behind a flood. Never throws.
   */
  note(target: TrackingTarget, reader: Reader): Promise<void>
  /** Makes events of what was noted: see judge-hits.ts. For delivery workers, any number at once. */
  judge(): Promise<boolean>
  /** Null: the message is not known any more. Throws overloaded, and when the database is away. */
  senderOf(target: TrackingTarget): Promise<SenderOfMessage | null>
  /** See unsubscribe.ts. Throws overloaded, and when the database is away. */
  unsubscribe(target: TrackingTarget, reader: Reader): Promise<Unsubscribed>
  /** Waits a moment for what is noted and not stored yet. */
  close(): Promise<void>
}

export interface Reader extends TrackingRequest {
  readonly address: string
}

export interface TrackingDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly log: Log
}

/** Of the pool's connections, so many for readers' pages; and who waits for them. */
const PAGES = { atOnce: 2, waiting: 200 } as const

export function trackingOf({ sql, secrets, log }: TrackingDependencies): Tracking {
  const taker = takerOf({ sql, log })
  const turns = createTurns(PAGES)
  return {
    read(kind, token) {
      const target = readTrackingToken(secrets, token)
      return target?.kind === kind ? target : undefined
    },
    note: (target, reader) =>
      taker.take({
        id: randomUUID(),
        kind: target.kind === 'click' ? 'clicked' : 'opened',
        accountId: target.accountId,
        messageId: target.messageId,
        recipientNo: target.recipientNo,
        link: target.kind === 'click' ? target.link : null,
        url: target.kind === 'click' ? target.url : null,
        ip: reader.address,
        userAgent: userAgentOf(reader),
        machine: machineRule(reader) ?? null,
        arrived: performance.now(),
      }),
    judge: () => judgeHits({ sql, log }),
    senderOf: (target) => turns.take(() => senderOf(sql, target)),
    unsubscribe: (target, reader) =>
      turns.take(() => unsubscribe(sql, { target, ip: reader.address, userAgent: userAgentOf(reader) })),
    close: () => taker.close(),
  }
}

function userAgentOf({ headers }: Reader): string | null {
  return plainUserAgent(String(headers['user-agent'] ?? ''))
}
