import { type EventDetails, type MessageDetails, replyText } from '@postrider/core'
import { foreign, type Html, html, type IconName, type Tone } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'

/** Signs of the event types; another one is shown by a dot. */
const SIGNS: Readonly<Record<string, readonly [IconName, Tone]>> = {
  processed: ['s-scheduled', 'idle'],
  sent: ['s-delivered', 'good'],
  deferred: ['s-deferred', 'wait'],
  bounced: ['s-bounced', 'bad'],
  dropped: ['s-dropped', 'idle'],
  invalid: ['s-dropped', 'idle'],
  expired: ['s-expired', 'bad'],
  opened: ['eye', 'info'],
  clicked: ['arrow', 'info'],
  unsubscribed: ['ban', 'idle'],
  resubscribed: ['mail', 'good'],
  complained: ['s-complaint', 'bad'],
}
/** Events that are shown; the feed has all. */
const MAX_SHOWN = 60

/** Everything that happened, in order. */
export function timeline(call: AccountCall, { events, deliveries, hasMoreEvents }: MessageDetails): Html {
  const words = messagesWords(call.language)
  const recipients = new Map(deliveries.map(({ recipientNo, recipient }) => [recipientNo, recipient]))
  const shown = events.slice(0, MAX_SHOWN)
  return html`<section class="box"><header><h2>${words.timeline}</h2></header><div class="pad"><ol class="line">
    ${shown.map((event, at) => item(call, event, { recipients, before: shown[at - 1]?.occurredAt }))}</ol>${
      (hasMoreEvents || events.length > MAX_SHOWN) && html`<p class="hint">${words.moreEvents}</p>`
    }</div></section>`
}

interface Surrounding {
  readonly recipients: ReadonlyMap<number, string>
  /** Time of the event before; undefined for the first. */
  readonly before: Date | undefined
}

function item(
  { format, icon, language }: AccountCall,
  { type, occurredAt, recipientNo, detail }: EventDetails,
  { recipients, before }: Surrounding,
): Html {
  const [sign, tone] = SIGNS[type] ?? ['info', 'idle']
  const recipient = recipientNo === null || recipients.size < 2 ? undefined : recipients.get(recipientNo)
  const facts = (detail ?? {}) as {
    readonly code?: number
    readonly enhanced?: string
    readonly reply?: string
    readonly url?: string
  }
  const said = type === 'clicked' ? (facts.url ?? '') : replyText(facts)
  const name = messagesWords(language).eventNames[type as 'processed'] ?? type
  return html`<li>${icon(sign, tone)}<div>${name}${recipient !== undefined && html` <span class="dim any">${foreign(recipient)}</span>`}
    ${said !== '' && html`<p class="hint any">${foreign(said.slice(0, 500))}</p>`}</div>${format.moment(occurredAt, before)}</li>`
}
