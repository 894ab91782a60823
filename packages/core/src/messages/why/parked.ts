import { partsOfDestination } from '../../delivery/limits/destination-names.ts'
import { OPERATOR_RULE, type Pause, REFUSED_RULE } from '../../delivery/limits/overrides.ts'
import {
  domainOfPlace,
  HELD_ONE_CLICK_PLACE,
  HELD_PLACE,
  type HoldReason,
  isHeldDestination,
} from '../../delivery/queue/account-holds.ts'
import type { FlowRate } from '../../delivery/queue/flow-progress.ts'
import type { Source } from '../../delivery/sources/egress.ts'
import { smartHostOf } from '../../delivery/sources/smart-hosts.ts'
import type { Expectation, Explanation, Facts, WaitingFacts } from './explanation.ts'
import type { DeliveryRow } from './rows.ts'
import * as texts from './texts.ts'

/** Deliveries below which a rate says nothing about the next minutes, and seconds below which it says too little. */
const MIN_SAMPLE = { tried: 20, seconds: 10 } as const

/** Why a delivery waits at its destination. */
export function parked(facts: Facts, row: DeliveryRow, since: Date): Explanation {
  const { message, pauses, workers, isOperator } = facts
  const { now } = message
  const { place } = row
  if (place === null) throw new Error('not parked')
  const line = facts.ahead.get(row.recipientNo) ?? texts.NONE_AHEAD
  const ahead = line.count
  const found = { since, nextAt: null, expected: expectedAt(facts, place, ahead), ahead }
  if (isHeldDestination(place)) {
    return { ...found, expected: null, ahead: null, waitingFor: 'account-held', ...heldReason(facts, place, since) }
  }
  const destination = destinationOf(place)
  const waits = { destination, ahead: line }
  const pause = pauses.get(place)
  if (pause) {
    const reply = isOperator || pause.accountId !== null ? pause.reason : undefined
    const text = texts.paused(pause, { place, reply, now })
    const expected = { p50: pause.until, p90: null, basis: 'end of the pause' }
    const known = { destination, pause: pauseFacts(pause, reply) }
    return {
      waitingFor: 'provider-pause',
      text,
      facts: known,
      since: pause.since,
      nextAt: pause.until,
      expected,
      ahead,
    }
  }
  if (workers.size === 0) return { ...found, expected: null, waitingFor: 'no-worker', text: texts.NO_WORKER }
  const ofSource = sourceReason(facts, row, place)
  if (ofSource) return { ...found, expected: null, ...ofSource, facts: { ...ofSource.facts, destination } }
  if (row.parkedFor === 'rate')
    return { ...found, waitingFor: 'provider-rate', text: texts.rate(place, line), facts: waits }
  if (row.parkedFor === 'connections') {
    return { ...found, waitingFor: 'connections', text: texts.connections(place, line), facts: waits }
  }
  // Another worker has the source.
  if (row.parkedFor === 'source')
    return { ...found, expected: null, waitingFor: 'moment', text: texts.handedOver(place), facts: { destination } }
  if (ahead > 0) return { ...found, waitingFor: 'fair-share', text: texts.pauseEnded(place, line), facts: waits }
  return { ...found, expected: null, waitingFor: 'moment', text: texts.pauseEnded(place, line), facts: waits }
}

function heldReason({ hold, lacking, isOperator }: Facts, place: string, since: Date) {
  const domain = domainOfPlace(place)
  if (domain !== undefined) {
    const found = lacking.get(domain)
    const facts: WaitingFacts = { hold: { kind: 'domain', domain, lacks: found?.lacks } }
    return { since: found?.since ?? since, text: texts.domainHeld(domain, found?.lacks), facts }
  }
  if (place === HELD_ONE_CLICK_PLACE) return { since, text: texts.ONE_CLICK_HELD, facts: held('one-click') }
  if (place === HELD_PLACE)
    return {
      since: hold?.since ?? since,
      text: texts.accountHeld(hold, isOperator),
      facts: accountFacts(hold, isOperator),
    }
  return { since, text: texts.RECIPIENT_HELD, facts: held('recipient') }
}

const held = (kind: 'recipient' | 'one-click' | 'ended'): WaitingFacts => ({ hold: { kind } }) as WaitingFacts

/** The operator's reason is not for the sender. */
function accountFacts(hold: HoldReason | undefined, isOperator: boolean): WaitingFacts {
  if (!hold) return held('ended')
  const { rule, level, rate, reason } = hold
  const own = isOperator && reason !== null ? { reason } : {}
  return { hold: { kind: 'account', rule, isHeld: level === 'held', rate: rate ?? null, ...own } }
}

function pauseFacts(
  { rule, accountId, since, until, isProbed }: Pause,
  reply: string | undefined,
): NonNullable<WaitingFacts['pause']> {
  const by = rule === OPERATOR_RULE ? 'operator' : rule === REFUSED_RULE ? 'refused' : 'asked'
  return { by, ofAccount: accountId !== null, since, until, isProbed, ...(reply ? { reply } : {}) }
}

/** A site has the names of its hosts, a provider has one without a dot. */
function destinationOf(place: string): NonNullable<WaitingFacts['destination']> {
  const { base, source } = partsOfDestination(place)
  const smartHost = smartHostOf(base)
  const of = source === undefined ? {} : { source }
  if (smartHost !== undefined) return { kind: 'smart-host', name: smartHost, ...of }
  return { kind: base.includes('.') ? 'hosts' : 'provider', name: base, ...of }
}

/** Why the source of a destination cannot send; undefined if it can. */
function sourceReason(
  { sources, isOperator }: Facts,
  { parkedFor }: DeliveryRow,
  destination: string,
): Pick<Explanation, 'waitingFor' | 'text' | 'facts'> | undefined {
  const { base, source: name } = partsOfDestination(destination)
  const source: Source | undefined = sources.find((one) => one.name === name)
  if (name === undefined) return undefined
  if (source?.isPaused) {
    const reason = isOperator ? source.reason : null
    return {
      waitingFor: 'source-paused',
      text: texts.sourcePaused(name, reason),
      ...(reason === null ? {} : { facts: { reason } }),
    }
  }
  if (!source || source.workers === 0) return { waitingFor: 'no-source', text: texts.noSource(name) }
  if (parkedFor === 'warm-up') return { waitingFor: 'warm-up', text: texts.warmUp(name, base) }
  return undefined
}

/** When the delivery is tried if mail of its flow goes on to be tried there as fast as lately. */
function expectedAt({ message: { now }, rates }: Facts, destination: string, ahead: number): Expectation {
  const { tried = 0, seconds = 0 }: Partial<FlowRate> = rates.get(destination) ?? {}
  if (tried < MIN_SAMPLE.tried || seconds < MIN_SAMPLE.seconds) {
    const basis = `no estimate: fewer than ${MIN_SAMPLE.tried} deliveries of the account were tried there within the last two minutes`
    return { p50: null, p90: null, basis }
  }
  const wait = ((ahead + 1) / tried) * seconds * 1000
  const basis = `${ahead} are ahead, and ${tried} deliveries of the account were tried there within the last ${Math.ceil(seconds)} s`
  return { p50: new Date(now.getTime() + wait), p90: null, basis }
}
