import { type DeliveryDetails, MAX_EXPLAINED, type MessageDetails } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { shownState } from './delivery-state.ts'
import { messagesWords } from './messages-words.ts'
import { notificationWords } from './notification-words.ts'
import { type Entry, recipientActions } from './recipient-actions.ts'
import { outcome } from './sentences/outcome.ts'
import { outcomeWords } from './sentences/outcome-words.ts'

/** States whose word is a sentence of its own. */
const WAITS: ReadonlySet<string> = new Set(['scheduled', 'queued', 'sending', 'deferred'])

export interface ShownRecipients {
  readonly fromRecipient: number
  /** The one whose copy is shown, and what can be done with it. */
  readonly chosen: DeliveryDetails | undefined
  /** The suppressions of the chosen one. */
  readonly entries: readonly Entry[]
}

/** Each recipient with one sentence: the state, what it waits for, and until when. */
export function recipientList(call: AccountCall, details: MessageDetails, shown: ShownRecipients): Html {
  const { fromRecipient } = shown
  const { language, path } = call
  const words = messagesWords(language)
  const { deliveries, id, recipients } = details
  const last = deliveries.at(-1)
  const hasMore = last !== undefined && deliveries.length === MAX_EXPLAINED && last.recipientNo + 1 < recipients
  const page = path(`messages/${id}`)
  return html`<section class="box"><header><h2>${words.recipients}</h2><p>${states(call, deliveries)}</p><p class="push faint">${outcomeWords(
    language,
  ).zone(call.format.timeZone)}</p></header><ul class="list">
    ${deliveries.map((one) => recipient(call, details, one, shown))}</ul>${
      (hasMore || fromRecipient > 0) &&
      html`<footer class="more"><span class="acts">${fromRecipient > 0 && html`<a class="btn s" href="${page}">${words.firstRecipients}</a>`}${
        hasMore && html`<a class="btn s" href="${page}?from=${last.recipientNo + 1}">${words.moreRecipients}</a>`
      }</span></footer>`
    }</section>`
}

function states({ format, language }: AccountCall, deliveries: readonly DeliveryDetails[]): string {
  const counts = Map.groupBy(deliveries, (one) => shownState({ language }, one)[2])
  return [...counts].map(([word, all]) => `${format.number(all.length)} ${word.toLowerCase()}`).join(', ')
}

function recipient(
  call: AccountCall,
  details: MessageDetails,
  one: DeliveryDetails,
  { fromRecipient, chosen, entries }: ShownRecipients,
): Html {
  const { id, notifications, recipients, suppressions } = details
  const { icon, language, may, path } = call
  const words = messagesWords(language)
  const [sign, tone, word] = shownState(call, one)
  const suppressed = suppressions.some(({ cause }) => cause?.recipientNo === one.recipientNo)
  const link =
    may('suppressions') &&
    html` <a href="${path('suppressions')}?q=${encodeURIComponent(one.recipient)}">${words.toSuppressions}</a>`
  const isChosen = one === chosen
  const at = new URLSearchParams({
    ...(fromRecipient > 0 ? { from: String(fromRecipient) } : {}),
    to: String(one.recipientNo),
  })
  const name =
    recipients === 1
      ? html`<b class="any">${foreign(one.recipient)}</b>`
      : html`<a class="go any" href="${path(`messages/${id}`)}?${at.toString()}"${isChosen && html` aria-current="true"`}>${foreign(one.recipient)}</a>`
  return html`<li>${icon(sign, tone)}<div>${name}${
    one.kind !== 'to' &&
    html` <span class="badge">${one.kind}
    </span>`
  }<p class="sentence"><b class="${tone}">${word}${WAITS.has(one.state) && '.'}</b>${outcome(call, details, one)}${suppressed && link}</p>${
    notifications && html`<p class="faint">${notified(call, one)}</p>`
  }${isChosen && recipientActions(call, details, one, entries)}</div></li>`
}

/** NOTIFY, and ORCPT if it is another address (RFC 3461). */
function notified({ language }: AccountCall, { notify, originalRecipient }: DeliveryDetails): Value {
  const words = notificationWords(language)
  const of = (notify ?? []).map((one) => words.words[one]).join(', ')
  return [
    of === '' ? words.never : words.of(of),
    originalRecipient !== null && html` ${words.originalRecipient}: ${foreign(originalRecipient)}.`,
  ]
}
