import type { Stage } from '../../delivery/outcomes/outcome.ts'
import { type ReplyMeaning, replyMeaning } from '../../delivery/outcomes/reply-meaning.ts'
import { NEVER } from '../../platform/never.ts'
import type { Expectation, Explanation, Facts } from './explanation.ts'
import { parked } from './parked.ts'
import type { DeliveryRow, MessageRow, RecentAttempts, WhyAttempt } from './rows.ts'
import * as texts from './texts.ts'

/** Attempts within five minutes below which they say nothing about the next minutes. */
const MIN_SAMPLES = 20
const NEXT_ATTEMPT = 'next attempt'

type Waiting = 'finished' | 'aside' | 'on-hold' | 'claimed' | 'parked' | 'held' | 'later' | 'due'

/** How the delivery is in the queue. Parked mail has a due time only as a safeguard. */
export function waitingOf(row: DeliveryRow, now: Date): Waiting {
  if (row.finishedAt) return 'finished'
  if (row.setAside !== null) return 'aside'
  if (row.workerId !== null) return 'claimed'
  if (row.parkedFor === 'hold') return 'on-hold'
  if (row.place !== null) return 'parked'
  if (row.nextAt?.getTime() === Date.parse(NEVER)) return 'held'
  return row.nextAt && row.nextAt > now ? 'later' : 'due'
}

/** Returns a function that finds the reason of each delivery of a message. */
export function findReason(facts: Facts): (row: DeliveryRow, attempts: readonly WhyAttempt[]) => Explanation {
  return (row, attempts) => {
    const last = attempts.at(-1)
    const explanation = reasonOf(facts, row, last)
    const expires = texts.expiresBefore(row.expiresAt, explanation.nextAt, facts.message.now)
    return { ...explanation, text: `${explanation.text}${expires}` }
  }
}

const NOTHING = { nextAt: null, expected: null, ahead: null } as const

function reasonOf(facts: Facts, row: DeliveryRow, last: WhyAttempt | undefined): Explanation {
  const { message, batch } = facts
  const { now } = message
  const since = waitedSince(message, row, last)
  switch (waitingOf(row, now)) {
    case 'finished':
      return {
        ...NOTHING,
        waitingFor: null,
        text: texts.finished(row, last, {
          now,
          late: facts.late.get(row.recipientNo),
          problem: facts.problems.get(row.recipientNo),
        }),
        since: row.finishedAt,
      }
    case 'aside':
      return {
        ...NOTHING,
        waitingFor: 'set-aside',
        text: texts.setAside(row.setAside),
        facts: setAsideFacts(row),
        since,
      }
    case 'on-hold':
      return { ...NOTHING, waitingFor: 'operator-hold', text: texts.onHold(row.expiresAt, now), since }
    case 'held':
      return {
        ...NOTHING,
        waitingFor: 'batch-paused',
        text: texts.batchPaused(batch),
        facts: batch === undefined ? {} : { batch },
        since: message.acceptedAt,
      }
    case 'claimed':
      return claimed(facts, row, since)
    case 'parked':
      return parked(facts, row, since)
    case 'later':
      return later(facts, row, last, since)
    case 'due':
      return due(facts, row)
  }
}

/** The end of its last attempt, or the time at which it was first due. */
function waitedSince(message: MessageRow, row: DeliveryRow, last: WhyAttempt | undefined): Date {
  return last ? new Date(last.startedAt.getTime() + last.milliseconds) : dueFromOf(message, row)
}

/** The time at which it was first due. */
export function dueFromOf(message: MessageRow, { scheduledAt }: DeliveryRow): Date {
  const from = (scheduledAt ?? message.scheduledAt)?.getTime() ?? 0
  return new Date(Math.max(from, message.acceptedAt.getTime()))
}

/** The meaning of the last refusal of a delivery; undefined without one. */
export function meaningOf({ state }: DeliveryRow, last: WhyAttempt | undefined): ReplyMeaning | undefined {
  if (!last || state === 'delivered' || last.outcome === 'delivered' || last.outcome === 'abandoned') return undefined
  return last.indeterminate ? undefined : replyMeaning(last, { stage: (last.stage ?? undefined) as Stage | undefined })
}

function claimed({ message: { now }, workers }: Facts, row: DeliveryRow, waited: Date): Explanation {
  const since = row.dotAt ?? (row.nextAt && row.nextAt <= now ? row.nextAt : waited)
  if (workers.size === 0) return { ...NOTHING, waitingFor: 'no-worker', text: texts.NO_WORKER, since }
  const isAlive = workers.has(row.workerId ?? 0)
  const text = isAlive ? texts.sending({ isSent: row.dotAt !== null, since, now }) : texts.WORKER_DIED
  const facts = { claimed: isAlive ? (row.dotAt === null ? 'working' : 'sent') : 'dead' } as const
  return { ...NOTHING, waitingFor: 'moment', text, facts, since }
}

function setAsideFacts({ setAside: reason }: DeliveryRow) {
  return reason === null ? {} : { reason }
}

function later({ message }: Facts, row: DeliveryRow, last: WhyAttempt | undefined, since: Date): Explanation {
  const { nextAt } = row
  const { now } = message
  if (!nextAt) throw new Error('not in the queue')
  const found = { since, nextAt, expected: { p50: nextAt, p90: null, basis: NEXT_ATTEMPT }, ahead: null }
  if (row.state === 'scheduled') {
    const expected = { ...found.expected, basis: 'the requested time' }
    const text = texts.scheduled(nextAt, now)
    return { ...found, waitingFor: 'scheduled', text, expected, since: message.acceptedAt }
  }
  if (!last) return { ...found, waitingFor: 'moment', text: texts.released(nextAt, now), facts: { isReleased: true } }
  if (last.indeterminate) return { ...found, waitingFor: 'indeterminate', text: texts.indeterminate(last, nextAt, now) }
  // Other failures before a host is known have other codes.
  const isDns = last.stage === 'mx' && last.enhanced === '4.4.3'
  if (isDns) return { ...found, waitingFor: 'dns', text: texts.dns(row.recipient, last, nextAt, now) }
  return { ...found, waitingFor: 'retry', text: texts.retry(last, nextAt, now) }
}

function due(facts: Facts, row: DeliveryRow): Explanation {
  const { message, workers, isOtherFlowDue, recent } = facts
  const { now } = message
  const line = facts.ahead.get(row.recipientNo) ?? texts.NONE_AHEAD
  const ahead = line.count
  const found = { ...NOTHING, since: row.nextAt, ahead }
  if (workers.size === 0) return { ...found, waitingFor: 'no-worker', text: texts.NO_WORKER }
  if (ahead === 0 && !isOtherFlowDue) return { ...found, waitingFor: 'moment', text: texts.dueNow(row.nextAt, now) }
  const expected = ahead > 0 && recent ? atRate(ahead, recent, now) : null
  return { ...found, waitingFor: 'fair-share', text: texts.fairShare(line), facts: { ahead: line }, expected }
}

/** When the delivery is tried if mail of the account goes on to be tried as fast as lately. */
function atRate(ahead: number, { count, seconds }: RecentAttempts, now: Date): Expectation {
  if (count < MIN_SAMPLES || seconds <= 0) {
    const basis = `no estimate: fewer than ${MIN_SAMPLES} deliveries of the account were tried within the last five minutes`
    return { p50: null, p90: null, basis }
  }
  const wait = (ahead / count) * seconds * 1000
  const counted = `${count} deliveries of the account were tried within the last ${Math.ceil(seconds)} s`
  return { p50: new Date(now.getTime() + wait), p90: null, basis: `${ahead} are ahead, and ${counted}` }
}
