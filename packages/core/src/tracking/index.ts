import { randomUUID } from 'node:crypto'
import { makeTrackingToken, readTrackingToken, type TrackingTarget } from '../composition/links/token.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { classifyHits } from './classify-hits.ts'
import { type Hit, plainUserAgent } from './hit.ts'
import { createHitBuffer } from './hit-buffer.ts'
import { createHitLimit } from './hit-limit.ts'
import { machineRule, type TrackingRequest } from './machine-rules.ts'
import { createReaderTurns } from './reader-turns.ts'
import { type ReaderView, readerView } from './reader-view.ts'
import { chooseGroups, type GroupChoice, resubscribe } from './resubscribe.ts'
import { type Unsubscribed, type UnsubscribeRequest, unsubscribe } from './unsubscribe.ts'

export { optOutHash } from '../composition/links/links.ts'
export { makeTrackingToken, readTrackingToken, type TrackingTarget } from '../composition/links/token.ts'
export { HITS_AN_HOUR } from './classify-hits.ts'
export { MACHINE_RULES_VERSION, REQUEST_RULES } from './machine-rules.ts'
export { type LeftMail, MAX_SHOWN_GROUPS, type ReaderGroup, type ReaderView } from './reader-view.ts'
export type { GroupChoice } from './resubscribe.ts'
export type { Unsubscribed } from './unsubscribe.ts'

/** Opens, clicks and unsubscribes of recipients. */
export interface Tracking {
  /** Returns the target of a link's token; undefined if this service did not make it or it is of another kind. */
  read(kind: TrackingTarget['kind'], token: string): TrackingTarget | undefined
  /**
   * Records an open or click and returns once it is stored. Returns earlier if the database takes longer than two seconds, or if
   * too many hits are waiting. One of a delivery that has too many is not recorded; see hit-limit.ts. Never throws.
   */
  note(target: TrackingTarget, reader: Reader): Promise<void>
  /** Turns recorded hits into events; see classify-hits.ts. Delivery workers may call it concurrently. */
  classify(): Promise<boolean>
  /** Returns the token of the same link for the preferences page, or for the unsubscribe page. */
  tokenFor(kind: 'unsubscribe' | 'preferences', target: TrackingTarget): string
  /** See reader-view.ts. Throws overloaded, or if the database is unavailable. */
  view(target: TrackingTarget): Promise<ReaderView | null>
  /** See unsubscribe.ts. Throws overloaded, or if the database is unavailable. */
  unsubscribe(target: TrackingTarget, reader: Reader): Promise<Unsubscribed>
  /** See resubscribe.ts. Throws overloaded, or if the database is unavailable. */
  resubscribe(target: TrackingTarget, group: number, reader: Reader): Promise<Unsubscribed>
  /** See resubscribe.ts. Throws overloaded, or if the database is unavailable. */
  choose(target: TrackingTarget, choice: GroupChoice, reader: Reader): Promise<Unsubscribed>
  /** Waits up to three seconds for hits that are not stored yet. */
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

export function createTracking({ sql, secrets, log }: TrackingDependencies): Tracking {
  const taker = createHitBuffer({ sql, log })
  const isWithinLimit = createHitLimit()
  const turns = createReaderTurns(sql)
  return {
    read(kind, token) {
      const target = readTrackingToken(secrets, token)
      return target?.kind === kind ? target : undefined
    },
    async note(target, reader) {
      const hit = hitOf(target, reader)
      if (isWithinLimit(hit)) await taker.take(hit)
    },
    classify: () => classifyHits({ sql, log }),
    tokenFor: (kind, target) => makeTrackingToken(secrets, { ...target, kind }),
    view: (target) => turns.take(target, () => readerView(sql, target)),
    unsubscribe: (target, reader) =>
      turns.change(target, (transaction) => unsubscribe(transaction, requestOf(target, reader))),
    resubscribe: (target, group, reader) =>
      turns.change(target, (transaction) => resubscribe(transaction, requestOf(target, reader), group)),
    choose: (target, choice, reader) =>
      turns.change(target, (transaction) => chooseGroups(transaction, requestOf(target, reader), choice)),
    close: () => taker.close(),
  }
}

function hitOf(target: TrackingTarget, reader: Reader): Hit {
  return {
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
  }
}

function requestOf(target: TrackingTarget, reader: Reader): UnsubscribeRequest {
  return { target, ip: reader.address, userAgent: userAgentOf(reader) }
}

function userAgentOf({ headers }: Reader): string | null {
  return plainUserAgent(String(headers['user-agent'] ?? ''))
}
