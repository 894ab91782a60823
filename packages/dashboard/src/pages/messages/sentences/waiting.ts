import type { DeliveryWhy, WaitingFacts } from '@postrider/core'
import type { AccountCall } from '../../../frame/call.ts'
import { waitingWords } from './waiting-words.ts'

type Words = ReturnType<typeof waitingWords>

/** Says what a delivery waits for. For `retry` and `dns`, the meaning of the last refusal says it. */
export function waitingSentence(call: Pick<AccountCall, 'format' | 'language'>, why: DeliveryWhy): string {
  const { format, language } = call
  const words = waitingWords(language)
  const facts: WaitingFacts = why.facts ?? {}
  const [where, source] = [destination(words, facts), facts.destination?.source ?? '']
  switch (why.waitingFor) {
    case 'scheduled':
      return why.nextAt ? words.scheduled(format.plainTime(why.nextAt)) : ''
    case 'batch-paused':
      return words.batch(facts.batch ?? '')
    case 'provider-pause':
      return paused(call, facts, where)
    case 'provider-rate':
      return join(words.rate(where), ahead(call, facts))
    case 'connections':
      return join(words.connections(where), ahead(call, facts))
    case 'warm-up':
      return words.warmUp(source, where)
    case 'source-paused':
      return join(words.sourcePaused(source), facts.reason)
    case 'no-source':
      return words.noSource(source)
    case 'operator-hold':
      return words.onHold
    case 'account-held':
      return held(call, facts)
    case 'fair-share':
      return join(words.fairShare, ahead(call, facts))
    case 'no-worker':
      return words.noWorker
    case 'set-aside':
      return words.setAside(facts.reason ?? '')
    case 'indeterminate':
      return words.indeterminate
    case 'moment':
      return { working: words.working, sent: words.awaiting, dead: words.died, none: words.due }[
        facts.claimed ?? 'none'
      ]
    default:
      return ''
  }
}

const join = (...parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(' ')

function destination(words: Words, { destination: known }: WaitingFacts): string {
  if (!known) return ''
  const kinds = { provider: words.provider, hosts: words.hosts, 'smart-host': words.smartHost }
  return kinds[known.kind](known.name) + (known.source === undefined ? '' : words.fromSource(known.source))
}

function ahead({ format, language }: Pick<AccountCall, 'format' | 'language'>, { ahead: line }: WaitingFacts): string {
  const words = waitingWords(language)
  if (!line) return ''
  const { count, isMinimum } = line
  if (isMinimum) return words.atLeast(format.number(count))
  return count === 0 ? words.noneAhead : count === 1 ? words.oneAhead : words.ahead(format.number(count))
}

function paused(
  { format, language }: Pick<AccountCall, 'format' | 'language'>,
  { pause }: WaitingFacts,
  where: string,
): string {
  if (!pause) return ''
  const words = waitingWords(language)
  const until = format.plainTime(pause.until)
  const texts = { operator: words.pausedByOperator, refused: words.pausedAfterRefusal, asked: words.pausedAsAsked }
  const text = texts[pause.by](where, until)
  return join(
    text.charAt(0).toUpperCase() + text.slice(1),
    pause.ofAccount ? words.ofAccount : undefined,
    pause.isProbed ? words.probed : undefined,
    pause.reply === undefined ? undefined : words.reply(pause.reply.slice(0, 200)),
  )
}

function held({ format, language }: Pick<AccountCall, 'format' | 'language'>, { hold }: WaitingFacts): string {
  const words = waitingWords(language)
  if (!hold || hold.kind === 'ended') return words.holdEnded
  if (hold.kind === 'recipient') return words.recipientHeld
  if (hold.kind === 'one-click') return words.oneClickHeld
  if (hold.kind === 'domain') {
    const names: Readonly<Record<string, string>> = words.lacks
    return hold.lacks
      ? words.domainHeld(hold.domain, hold.lacks.map((one) => names[one] ?? one).join(', '))
      : words.holdEnded
  }
  const rules: Readonly<Record<string, string>> = {
    closed: words.closed,
    'unknown-recipients': words.unknownRecipients,
    'sudden-volume': words.suddenVolume,
    bounces: words.bounces,
    complaints: words.complaints,
  }
  const rest = hold.isHeld
    ? words.untilReleased
    : hold.rate === null
      ? undefined
      : words.atRate(format.number(hold.rate))
  return join(rules[hold.rule] ?? words.otherHold, hold.reason, rest)
}
