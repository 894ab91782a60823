import { MAX_EXPLAINED, type MessageDetails } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { ask, byApi, copyable, pageHead, problemNote } from '../../frame/parts.ts'
import { actionWords } from './action-words.ts'
import { requireMessage } from './find-message.ts'
import { messageTabs } from './message-tabs.ts'
import { subject } from './messages.ts'
import { messagesWords } from './messages-words.ts'
import { neighbours, webhookCalls } from './neighbours.ts'
import { notificationWords } from './notification-words.ts'
import { entriesFor, rescheduleButton, WAITING } from './recipient-actions.ts'
import { recipientList } from './recipients.ts'
import { stages } from './session/stages.ts'
import { timeline } from './timeline.ts'

/** One message: what became of it in a sentence for each recipient, and the proof below. `problem`: the reason why an action was refused. */
export async function messagePage(call: AccountCall, problem?: string): Promise<Answer> {
  const { language, query, path } = call
  const words = messagesWords(language)
  const fromRecipient = Math.min(1_000_000, Math.max(0, Math.trunc(Number(field(query, 'from'))) || 0))
  const details = await requireMessage(call, { fromRecipient })
  // After a form of a recipient was refused, the page of this recipient is shown again.
  const no = field(query, 'to') || field(call.form, 'recipient')
  const chosen = details.deliveries.find(({ recipientNo }) => String(recipientNo) === no) ?? details.deliveries[0]
  const entries = await entriesFor(call, details, chosen)
  const title = details.subject.trim() === '' ? words.noSubject : details.subject
  return page({
    title,
    status: problem === undefined ? 200 : 400,
    crumb: details.id.slice(0, 8),
    live: 'events',
    crumbs: [[words.title, path('messages')]],
    body: html`<header class="stack s">${pageHead(subject(call, details.subject), null, buttons(call, details))}${summary(call, details)}</header>
      ${problemNote(call, problem)}
<div class="cols"><div class="w8 stack">${recipientList(call, details, { fromRecipient, chosen, entries })}${await messageTabs(call, details, chosen)}</div>
<aside class="w4 stack">${stages(call, chosen)}${timeline(call, details)}${await webhookCalls(call, details)}${ids(call, details, chosen)}
${await neighbours(call, details, chosen)}</aside></div>
${byApi(call, { method: 'GET', path: `/v2/messages/${details.id}` })}`,
  })
}

function summary(call: AccountCall, details: MessageDetails): Html {
  const { format, language } = call
  const { from, recipients, door, size, acceptedAt, corrected, notifications, resentFrom, resentAs } = details
  const { keepsContent, isBodyStored } = details
  const words = messagesWords(language)
  const entryPoints: Readonly<Record<string, string>> = words.entryPoints
  const dot = html`<span class="faint wide-only">·</span>`
  return html`<p class="row dim"><span class="any">${from}</span>${dot}<span>${words.recipientCount(format.number(recipients), recipients === 1)}
    </span>${dot}<span>${entryPoints[door] ?? door}</span>${dot}<span>${format.size(size)}</span>${dot}${format.time(acceptedAt)}</p>${
      corrected !== null && html`<p class="dim">${words.corrected}: <span lang="en">${corrected}</span></p>`
    }${
      !keepsContent && html`<p class="dim">${isBodyStored ? words.notToBeKept : words.notKept}</p>`
    }${copies(call, resentFrom, resentAs)}${notifications && html`<p class="dim">${notificationsText(language, notifications)}</p>`}`
}

/** The messages of which this one is a copy, and that are copies of it. */
function copies({ language, path }: AccountCall, from: string | null, as: readonly string[]): Value {
  const words = actionWords(language)
  const link = (id: string) =>
    html` <a href="${path(`messages/${id}`)}"><code>${id.slice(0, 8)}…${id.slice(-4)}</code></a>`
  return [
    from !== null && html`<p class="dim">${words.copyOf}${link(from)}</p>`,
    as.length > 0 && html`<p class="dim">${words.copies}${as.map(link)}</p>`,
  ]
}

/** RET and ENVID of RFC 3461 are shown as they are named there. */
function notificationsText(
  language: AccountCall['language'],
  { to, full, envelopeId }: NonNullable<MessageDetails['notifications']>,
): Value {
  return [
    notificationWords(language).to,
    html`: <span class="any">${foreign(to)}</span>`,
    full && ' · RET=FULL',
    envelopeId !== undefined && html` · ENVID=${foreign(envelopeId)}`,
  ]
}

function buttons(call: AccountCall, details: MessageDetails): Value {
  const { id, deliveries, isBodyStored, recipients, scheduledAt } = details
  const { format, icon, language, may, path } = call
  const words = messagesWords(language)
  // Beyond the first page of recipients it is not known here what waits.
  const waits = deliveries.some(({ state }) => WAITING.has(state)) || recipients > MAX_EXPLAINED
  const scheduled =
    deliveries.some(({ state }) => state === 'scheduled') || (recipients > MAX_EXPLAINED && scheduledAt !== null)
  const deferred = deliveries.some(({ state }) => state === 'deferred') || recipients > MAX_EXPLAINED
  const act = (action: string, sign: 'play' | 'retry', label: string) =>
    html`<form method="post" action="${path(`messages/${id}/${action}`)}"><button class="btn" type="submit">${icon(sign)}${label}</button></form>`
  return [
    may('send') && scheduled && rescheduleButton(call, details, format.dayZone),
    may('send') && deferred && act('try-now', 'play', words.tryNow),
    may('send') &&
      waits &&
      ask({
        language: call.language,
        id: 'cancel',
        button: words.cancel,
        title: words.cancelTitle,
        text: words.cancelText,
        action: path(`messages/${id}/cancel`),
      }),
    may('resend') &&
      isBodyStored &&
      ask({
        language: call.language,
        id: 'again',
        isCalm: true,
        button: words.again,
        title: `${words.again}?`,
        text: words.againText,
        action: path(`messages/${id}/resend`),
      }),
  ]
}

function ids(
  call: AccountCall,
  { id }: MessageDetails,
  chosen: MessageDetails['deliveries'][number] | undefined,
): Html {
  const words = messagesWords(call.language)
  const row = (name: string, value: string) => html`<dt>${name}</dt><dd>${copyable(call, value, name)}</dd>`
  return html`<section class="box"><header><h2>${words.ids}</h2></header><div class="pad"><dl class="dl">${row(words.messageId, id)}${
    chosen && row(words.transactionNumber, chosen.transactionNumber)
  }${chosen?.reference && row(words.reference, chosen.reference)}</dl></div></section>`
}
