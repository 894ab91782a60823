import { partsOfDestination } from '../../delivery/limits/destination-names.ts'
import {
  domainOfPlace,
  HELD_ONE_CLICK_PLACE,
  HELD_PLACE,
  isHeldDestination,
} from '../../delivery/queue/account-holds.ts'
import type { FlowRate } from '../../delivery/queue/flow-progress.ts'
import type { Source } from '../../delivery/sources/egress.ts'
import type { Expectation, Explanation, Facts } from './explanation.ts'
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
  const pause = pauses.get(place)
  if (pause) {
    const reply = isOperator || pause.accountId !== null ? pause.reason : undefined
    const text = texts.paused(pause, { place, reply, now })
    const expected = { p50: pause.until, p90: null, basis: 'end of the pause' }
    return { waitingFor: 'provider-pause', text, since: pause.since, nextAt: pause.until, expected, ahead }
  }
  if (workers.size === 0) return { ...found, expected: null, waitingFor: 'no-worker', text: texts.NO_WORKER }
  const ofSource = sourceReason(facts, row, place)
  if (ofSource) return { ...found, expected: null, ...ofSource }
  if (row.parkedFor === 'rate') return { ...found, waitingFor: 'provider-rate', text: texts.rate(place, line) }
  if (row.parkedFor === 'connections') {
    return { ...found, waitingFor: 'connections', text: texts.connections(place, line) }
  }
  // Another worker has the source.
  if (row.parkedFor === 'source')
    return { ...found, expected: null, waitingFor: 'moment', text: texts.handedOver(place) }
  if (ahead > 0) return { ...found, waitingFor: 'fair-share', text: texts.pauseEnded(place, line) }
  return { ...found, expected: null, waitingFor: 'moment', text: texts.pauseEnded(place, line) }
}

function heldReason({ hold, lacking, isOperator }: Facts, place: string, since: Date) {
  const domain = domainOfPlace(place)
  if (domain !== undefined) {
    const found = lacking.get(domain)
    return { since: found?.since ?? since, text: texts.domainHeld(domain, found?.lacks) }
  }
  if (place === HELD_ONE_CLICK_PLACE) return { since, text: texts.ONE_CLICK_HELD }
  if (place === HELD_PLACE) return { since: hold?.since ?? since, text: texts.accountHeld(hold, isOperator) }
  return { since, text: texts.RECIPIENT_HELD }
}

/** Why the source of a destination cannot send; undefined if it can. */
function sourceReason(
  { sources, isOperator }: Facts,
  { parkedFor }: DeliveryRow,
  destination: string,
): Pick<Explanation, 'waitingFor' | 'text'> | undefined {
  const { base, source: name } = partsOfDestination(destination)
  const source: Source | undefined = sources.find((one) => one.name === name)
  if (name === undefined) return undefined
  if (source?.isPaused) {
    return { waitingFor: 'source-paused', text: texts.sourcePaused(name, isOperator ? source.reason : null) }
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
