import {
  type BoundedCount,
  domainOfPlace,
  HELD_ONE_CLICK_PLACE,
  HELD_PLACE,
  HELD_RECIPIENT_PLACE,
  isHeldPlace,
  type MessageRate,
  OPERATOR_RULE,
  type Override,
  partsOfPlace,
  type QueueGroup,
  type RefusedAt,
  smartHostOf,
  type WaitingFor,
} from '@postrider/core'
import { foreign, type Html, html, type IconName, type Tone, type Value } from '@postrider/ui'
import type { Call } from '../../frame/call.ts'
import { queueWords } from './queue-words.ts'

export type DestinationState = 'paused' | 'rule-paused' | 'slowed' | 'flowing' | 'idle' | 'held' | 'waiting'

const SIGNS: Readonly<Record<DestinationState, readonly [IconName, Tone]>> = {
  paused: ['pause', 'idle'],
  'rule-paused': ['pause', 'wait'],
  slowed: ['s-deferred', 'wait'],
  flowing: ['s-delivered', 'good'],
  idle: ['s-waiting', 'idle'],
  held: ['pause', 'wait'],
  waiting: ['s-waiting', 'idle'],
}

/** The limits that concern the mail of all accounts, pauses first. */
export function generalOverrides({ overrides }: Pick<QueueGroup, 'overrides'>): readonly Override[] {
  const rank = ({ setting, rule }: Override) => (setting === 'pause' ? (rule === OPERATOR_RULE ? 0 : 1) : 2)
  return overrides.filter(({ accountId }) => accountId === null).sort((a, b) => rank(a) - rank(b))
}

export function stateOf(group: QueueGroup): DestinationState {
  if (group.name === null) return 'waiting'
  if (!isPausable(group.name)) return 'held'
  const [first] = generalOverrides(group)
  if (first?.setting === 'pause') return first.rule === OPERATOR_RULE ? 'paused' : 'rule-paused'
  if (first) return 'slowed'
  const waits = group.later.count + group.held.count
  if (group.total.count > waits || (group.limits?.connections.used ?? 0) > 0) return 'flowing'
  return waits > 0 ? 'waiting' : 'idle'
}

/** Whether less mail is offered than usual. */
export function isLimited(group: QueueGroup): boolean {
  return ['paused', 'rule-paused', 'slowed'].includes(stateOf(group))
}

/** The state as a sign and a word. */
export function stateMark({ icon, language }: Call, state: DestinationState): Html {
  const [sign, tone] = SIGNS[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${queueWords(language).states[state]}</span></span>`
}

/** Whether the name is of a provider, site or smart host, which can be paused; the others are of mail that is parked for another reason. */
export function isPausable(name: string | null): name is string {
  return name !== null && !isHeldPlace(name)
}

/** A destination by the name that people know, without its source. */
export function destinationName({ language }: Pick<Call, 'language'>, name: string | null): string {
  const words = queueWords(language)
  if (name === null) return words.noDestination
  if (name === HELD_PLACE) return words.heldDestination
  if (name === HELD_RECIPIENT_PLACE) return words.recipientDestination
  if (name === HELD_ONE_CLICK_PLACE) return words.oneClickDestination
  const domain = domainOfPlace(name)
  if (domain !== undefined) return words.domainDestination(domain)
  const host = smartHostOf(name)
  return host === undefined ? partsOfPlace(name).base : words.smartHost(host)
}

/** Such as ">10,001": there may be others. */
export function bounded({ format }: Pick<Call, 'format'>, { count, more }: BoundedCount): string {
  return `${more ? '>' : ''}${format.number(count)}`
}

/** Such as "600 per minute". */
export function rateText({ format, language }: Call, { messages, seconds }: MessageRate): string {
  const words = queueWords(language)
  const count = format.number(messages)
  return seconds === 1 ? words.seconds(count) : seconds === 60 ? words.minutes(count) : words.hours(count)
}

/** The limit of an override, in words. */
export function limitText(
  call: Call,
  { setting, value, seconds }: Pick<Override, 'setting' | 'value' | 'seconds'>,
): string {
  const { limits } = queueWords(call.language)
  if (setting === 'pause') return limits.pause
  if (setting === 'rate') {
    return limits.rate(rateText(call, { messages: value ?? 0, seconds: (seconds ?? 1) as MessageRate['seconds'] }))
  }
  return limits[setting](call.format.number(value ?? 0))
}

/** The rule or operator that set an override, and its times. */
export function overrideTimes({ format, language }: Call, { rule, since, until }: Override): Html {
  const words = queueWords(language)
  const by = rule === OPERATOR_RULE ? words.byOperator : words.byRule(rule)
  return html`${by}, ${words.since} ${format.time(since)} ${words.until} ${format.time(until)}`
}

/**
 * Why mail waits at a destination: the last refusal that limits it, or because of which it is tried again, in the words of the other side, else what it
 * waits for. `refused`: what it refused lately.
 */
export function whyText(call: Call, group: QueueGroup, refused?: RefusedAt): Html {
  const { language } = call
  const words = queueWords(language)
  const [first] = generalOverrides(group)
  const next = group.doneAt && words.emptyIn(call.format.duration(group.doneAt.getTime() - call.now.getTime()))
  if (first) {
    return html`<span class="clamp">“${foreign(first.reason)}”</span><small>${limitText(call, first)}; ${overrideTimes(call, first)}</small>`
  }
  const kinds = waitingKinds(call, group)
  if (group.name === null) return html`<span>${kinds}</span><small>${words.noDestinationText}</small>`
  if (refused && group.later.count > 0 && refused.forNow >= refused.permanent)
    return html`<span class="clamp">“${foreign(refused.reply)}”</span><small>${kinds}</small>`
  return html`<span>${kinds || words.nothingHolds}</span><small>${next}</small>`
}

/** The reasons why mail of a group waits, with the count of each: "12 due now, 3 waiting for the rate". */
export function waitingKinds(call: Call, { due, later, held, parked }: QueueGroup): Value {
  const { kinds } = queueWords(call.language)
  const parts = [
    ...Object.entries({ due, later, held }),
    ...(Object.entries(parked) as [WaitingFor, BoundedCount][]),
  ].filter(([, { count }]) => count > 0)
  return parts.map(([kind, count]) => `${bounded(call, count)} ${kinds[kind as keyof typeof kinds]}`).join(', ')
}
