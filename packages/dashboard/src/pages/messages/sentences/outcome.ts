import {
  type DeliveryDetails,
  type EventDetails,
  type MessageDetails,
  type ReplyMeaning,
  replyMeaning,
  replyText,
} from '@postrider/core'
import { foreign, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../../frame/call.ts'
import { messagesWords } from '../messages-words.ts'
import { mailClient } from './mail-client.ts'
import { meaningWords } from './meaning-words.ts'
import { outcomeWords } from './outcome-words.ts'
import { waitingSentence } from './waiting.ts'

type Attempt = DeliveryDetails['attempts'][number]

/** Length to which replies are shortened; the SMTP session has all of it. */
const MAX_REPLY = 200

interface EventFacts {
  readonly class?: string
  readonly code?: number
  readonly enhanced?: string
  readonly reply?: string
  readonly late?: boolean
  readonly machine?: string
  readonly userAgent?: string
  readonly ip?: string
}

/** Says what became of a delivery: total time and time in the queue first, then who said what, what that means, and what to do. */
export function outcome(call: AccountCall, details: MessageDetails, one: DeliveryDetails): Value {
  const { format } = call
  const events = details.events.filter(({ recipientNo }) => recipientNo === one.recipientNo)
  const suppressed = details.suppressions.some(({ cause }) => cause?.recipientNo === one.recipientNo)
  const words = outcomeWords(call.language)
  const rest = [engagement(call, one, events), suppressed && ` ${words.nowSuppressed}`]
  switch (one.state) {
    case 'delivered':
      return [delivered(call, one), late(call, events), rest]
    case 'bounced':
      return [
        times(call, one),
        one.finishedAt && words.at(format.plainTime(one.finishedAt)),
        '. ',
        meaning(call, refusalOf(one, events), { advises: true }),
        said(call, one.attempts.at(-1)),
        rest,
      ]
    case 'expired':
      return [
        times(call, one),
        '. ',
        words.givenUp,
        ' ',
        meaning(call, one.why?.meaning, { advises: true }),
        said(call, one.attempts.at(-1)),
        rest,
      ]
    case 'dropped':
      return [one.finishedAt && words.at(format.plainTime(one.finishedAt)), '. ', dropped(call, one), rest]
    default:
      return [' ', waiting(call, one), rest]
  }
}

function delivered(call: AccountCall, one: DeliveryDetails): Value {
  const { format, language } = call
  const words = outcomeWords(language)
  const last = one.attempts.at(-1)
  const took = one.finishedAt && words.took(last?.host ?? words.theServer, format.plainTime(one.finishedAt))
  const reply = last ? replyText(last).slice(0, MAX_REPLY) : ''
  return [times(call, one), took, reply !== '' && html` ${quoted(words.called, reply)}`, '.']
}

/** The total time, and of that the time until the first attempt. */
function times({ format, language }: AccountCall, { attempts, finishedAt, why }: DeliveryDetails): Value {
  const words = outcomeWords(language)
  const [first] = attempts
  if (!why || !finishedAt) return null
  const total = finishedAt.getTime() - why.dueFrom.getTime()
  const queued = first?.attempt === 1 ? first.startedAt.getTime() - why.dueFrom.getTime() : undefined
  if (total < 0) return null
  return [
    ` ${words.after(format.duration(total))}`,
    queued !== undefined && words.queued(format.duration(Math.max(0, queued))),
  ]
}

/** A text with a foreign one in it. */
function quoted(words: (text: string) => string, text: string): Value {
  const [before = '', after = ''] = words('\0').split('\0')
  return html`${before}${foreign(text)}${after}`
}

function said({ language }: AccountCall, last: Attempt | undefined): Value {
  const words = outcomeWords(language)
  const reply = last ? replyText(last).slice(0, MAX_REPLY) : ''
  if (!last || reply === '') return null
  const isOwn = last.host === null || last.code === null
  return [' ', quoted(isOwn ? words.here : (text) => words.said(last.host ?? words.theServer, text), reply)]
}

/** The meaning of a refusal, with the advice for its sender. */
function meaning(
  { language }: AccountCall,
  known: ReplyMeaning | null | undefined,
  { advises }: { readonly advises: boolean },
): Value {
  if (!known) return null
  const [what, advice] = meaningWords(language)[known]
  return advises ? `${what} ${advice}` : what
}

/** The meaning of a bounce by the class that was stored with it; that of its last attempt if the event is no longer stored. */
function refusalOf({ why }: DeliveryDetails, events: readonly EventDetails[]): ReplyMeaning | null | undefined {
  const bounce = events.findLast(({ type }) => type === 'bounced')?.detail as EventFacts | undefined
  if (!bounce) return why?.meaning
  return replyMeaning({
    code: bounce.code ?? null,
    enhanced: bounce.enhanced ?? null,
    reply: bounce.reply ?? null,
    class: bounce.class,
  })
}

/** A report, after the delivery, that it failed. */
function late(call: AccountCall, events: readonly EventDetails[]): Value {
  const report = events.find(({ type, detail }) => type === 'bounced' && (detail as EventFacts | null)?.late)
  if (!report) return null
  const { code = null, enhanced = null, reply = null, class: of } = report.detail as EventFacts
  const words = outcomeWords(call.language)
  const text = replyText({ code, enhanced, reply }).slice(0, MAX_REPLY)
  return [
    ` ${words.reported(call.format.plainTime(report.occurredAt))} `,
    meaning(call, replyMeaning({ code, enhanced, reply, class: of }), { advises: true }),
    text !== '' && html` ${foreign(text)}`,
  ]
}

/** Why it was not sent. What is wrong with a template is in the English of its language. */
function dropped({ language }: AccountCall, { reason, why }: DeliveryDetails): Value {
  const words = outcomeWords(language)
  const reasons: Readonly<Record<string, string>> = messagesWords(language).reasons
  if (reason === null) return null
  const text = reasons[reason] ?? reason
  const problem = why?.problem?.slice(0, MAX_REPLY * 2)
  return problem ? quoted((inner) => words.becauseOf(text, inner), problem) : words.because(text)
}

function waiting(call: AccountCall, one: DeliveryDetails): Value {
  const { format, language } = call
  const { why } = one
  if (!why) return null
  const words = outcomeWords(language)
  const isRefused = why.waitingFor === 'retry' || why.waitingFor === 'dns'
  const expected = why.expected?.p50
  const isPlanned = why.waitingFor !== 'scheduled' && why.nextAt !== null
  return [
    isRefused
      ? [meaning(call, why.meaning, { advises: false }), said(call, one.attempts.at(-1))]
      : waitingSentence(call, why),
    isPlanned && why.nextAt && ` ${words.nextTry(format.plainTime(why.nextAt))}`,
    !isPlanned &&
      why.waitingFor !== 'scheduled' &&
      expected &&
      one.state !== 'sending' &&
      ` ${messagesWords(language).expected(format.plainTime(expected))}`,
    why.deadline && html` <span class="faint">${words.stillTried(format.plainTime(why.deadline))}</span>`,
  ]
}

/** How often people opened it and clicked, with what, and how often machines did. */
function engagement(call: AccountCall, { finishedAt }: DeliveryDetails, events: readonly EventDetails[]): Value {
  const { format, language } = call
  const words = outcomeWords(language)
  const factsOf = ({ detail }: EventDetails) => (detail ?? {}) as EventFacts
  const people = (type: string) => events.filter((event) => event.type === type && factsOf(event).machine === undefined)
  const machines = events.filter(
    (event) => (event.type === 'opened' || event.type === 'clicked') && factsOf(event).machine !== undefined,
  )
  const by = (all: readonly EventDetails[]) => {
    const [first] = all
    const { userAgent, ip } = first ? factsOf(first) : {}
    const client = mailClient(userAgent)
    const time =
      first && finishedAt && first.occurredAt >= finishedAt
        ? words.first(format.duration(+first.occurredAt - +finishedAt))
        : ''
    return [client === undefined ? '' : words.by(client), ip === undefined ? '' : words.from(ip), time].join('')
  }
  const [opens, clicks] = [people('opened'), people('clicked')]
  const parts = [
    opens.length > 0 ? `${words.opened(opens.length)}${by(opens)}` : '',
    clicks.length > 0 ? `${words.clicked(clicks.length)}${by(clicks)}` : '',
  ].filter((part) => part !== '')
  const text = parts.join('; ')
  return [
    text !== '' && ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    machines.length > 0 && html` <span class="faint">${words.machines(machines.length)}</span>`,
    events.some(({ type }) => type === 'unsubscribed') && ` ${words.unsubscribed}`,
    events.some(({ type }) => type === 'complained') && ` ${words.complained}`,
  ]
}
