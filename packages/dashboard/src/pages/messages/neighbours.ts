import { addToSearch, type DeliveryDetails, type MessageDetails, parseSearch } from '@postrider/core'
import { foreign, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { deliveryState } from './delivery-state.ts'
import { messagesWords } from './messages-words.ts'
import { neighbourWords } from './neighbour-words.ts'

/** The requests to webhooks that reported events of the message. */
export async function webhookCalls(call: AccountCall, { id }: MessageDetails): Promise<Value> {
  const { account, core, format, icon, language, may, path } = call
  if (!may('webhooks.read')) return null
  const calls = await core.webhooks.madeFor(account.id, id)
  if (calls.length === 0) return null
  const words = neighbourWords(language)
  const names: Readonly<Record<string, string>> = messagesWords(language).eventNames
  return html`<section class="box"><header><h2>${words.calls}</h2></header><div class="pad"><ol class="line">${calls.map(
    ({ webhookId, requestId, url, at, attempt, status, milliseconds, problem, types }) => {
      const tone = problem === null ? 'good' : 'bad'
      const of = types.map((type) => names[type] ?? type).join(', ')
      const text = `${of}: ${status ?? words.noAnswer}, ${words.attempt(format.number(attempt))}, ${format.duration(milliseconds)}`
      return html`<li>${icon('webhook', tone)}<div><a class="any" href="${path(`webhooks/${webhookId}/requests/${requestId}`)}">${foreign(hostOf(url))}</a>
      <p class="hint any">${text}${problem !== null && html`: ${foreign(problem.slice(0, 200))}`}</p></div>${format.time(at)}</li>`
    },
  )}</ol></div></section>`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}

/** Messages to the same recipient that are listed; an index finds them. Those with the same tags are linked only. */
const MAX_SHOWN = 5

/** Other messages to the chosen recipient, the latest first, and where to find those with the same tags. */
export async function neighbours(
  call: AccountCall,
  { id, tags }: MessageDetails,
  chosen: DeliveryDetails | undefined,
): Promise<Value> {
  const { account, core, format, language, path } = call
  if (!chosen || chosen.reason === 'forgotten' || chosen.reason === 'invalid') return null
  const words = neighbourWords(language)
  const search = addToSearch(parseSearch(''), 'to', chosen.recipient)
  const { deliveries } = await core.messages.list({
    accountId: account.id,
    search,
    limit: MAX_SHOWN + 1,
    after: undefined,
  })
  const others = deliveries.filter((one) => one.messageId !== id).slice(0, MAX_SHOWN)
  const link = (text: string) => `${path('messages')}?q=${encodeURIComponent(text)}`
  if (others.length === 0 && tags.length === 0) return null
  return html`<section class="box"><header><h2>${words.same}</h2></header>${
    others.length > 0 &&
    html`<ul class="list">${others.map(
      (one) =>
        html`<li><div><a class="any" href="${path(`messages/${one.messageId}`)}">${
          one.subject.trim() === '' ? messagesWords(language).noSubject : foreign(one.subject)
        }</a><p class="row faint">${deliveryState(call, one)}${format.time(one.acceptedAt)}</p></div></li>`,
    )}</ul>`
  }<footer><span class="row"><a href="${link(`to:${quoted(chosen.recipient)}`)}">${words.all}</a>${tags
    .slice(0, MAX_SHOWN)
    .map(
      (tag) => html`<a class="any" href="${link(`tag:${quoted(tag)}`)}">${words.tagged(tag)}</a>`,
    )}</span></footer></section>`
}

/** A value of the search language. */
function quoted(value: string): string {
  return /[\s"\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : value
}
