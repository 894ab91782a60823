import type { Webhook, WebhookRequest } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'
import { failurePage } from '../../frame/error-pages.ts'
import { actButton, byApi, pageHead } from '../../frame/parts.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { range } from './webhook-deliveries.ts'
import { webhookName } from './webhook-state.ts'
import { webhooksWords } from './webhooks-words.ts'

/** Characters of a body that the page shows: a batch can have hundreds of kilobytes. */
const MAX_BODY = 12_000

/** One request of a webhook with both sides, and what becomes of its events. */
export async function requestPage(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const { format, language, path } = call
  const found = await attempt(() => call.core.webhooks.request(call.account.id, namedRequest(call, webhook)))
  if (!found.ok) return notFound(call)
  const words = webhooksWords(language)
  const request = found.value
  const { id, at, attempt: tried, milliseconds, after, to } = request
  const title = words.requestAt(format.plainTime(at))
  const own = `/v2/webhooks/${webhook.id}/deliveries/${id}`
  return page({
    title,
    crumbs: [
      [words.title, path('webhooks')],
      [webhookName(webhook), path(`webhooks/${webhook.id}`)],
    ],
    body: html`${pageHead(
      title,
      `${words.range}: ${range(format.number, after, to)}. ${words.requestText(format.number(tried), format.duration(milliseconds))}.`,
    )}${outcome(call, webhook, request)}<div class="cols even">${sentBox(call, request)}${receivedBox(call, request)}</div>
${byApi(call, { method: 'GET', path: own }, { method: 'POST', path: `${own}/resend` })}`,
  })
}

/** Sends the batch of a request again. */
export async function resend(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const { account: own, by, path } = call
  const request = namedRequest(call, webhook)
  const sent = await attempt(() => call.core.webhooks.resend({ accountId: own.id, id: webhook.id, by }, request.id))
  return sent.ok ? redirect(path(`webhooks/${webhook.id}`), 'replayed') : notFound(call)
}

/** The number of the request; one that cannot be is of none. */
function namedRequest({ params }: AccountCall, { id: webhookId }: Webhook) {
  const id = /^\d{1,16}$/.test(params.request ?? '') ? Number(params.request) : 0
  return { webhookId, id: Number.isSafeInteger(id) ? id : 0 }
}

function notFound(call: AccountCall): Answer {
  const words = frameWords(call.language)
  return failurePage({ status: 404, title: words.notFound, text: words.notFoundText }, call)
}

/** The status, what became of the events, and the button that sends them again. */
function outcome(call: AccountCall, webhook: Webhook, request: WebhookRequest): Html {
  const { format, icon, language, may, path } = call
  const words = webhooksWords(language)
  const { id, status, problem, batchState, nextTryAt, body } = request
  const tone = problem === null ? 'good' : 'bad'
  const waits = batchState === 'waiting'
  const again = path(`webhooks/${webhook.id}/requests/${id}/resend`)
  return html`<section class="note ${tone}">${icon(problem === null ? 's-delivered' : 's-bounced', tone)}<div class="stack s"><div><b>${
    status === null ? words.noResponse : `${words.answer}: ${status}`
  }</b>${problem !== null && html`<p>“${foreign(problem)}”</p>`}<p>${words.batchStates[batchState ?? 'delivered']}${
    waits && webhook.enabled && nextTryAt !== null && ` ${words.nextTry(format.plainTime(nextTryAt))}`
  }${!webhook.enabled && ` ${words.resumeFirst}`}</p></div>${
    may('webhooks') &&
    body !== null &&
    html`<div class="row">${actButton(waits ? words.tryNow : words.sendAgain, again)}</div>`
  }</div></section>`
}

function sentBox(call: AccountCall, { headers, body, missing }: WebhookRequest): Html {
  const { format, language } = call
  const words = webhooksWords(language)
  if (headers === null || body === null)
    return html`<section class="box w7"><header><h2>${words.sent}</h2></header><div class="void"><p>${words.noHeaders}</p></div></section>`
  return html`<section class="box w7"><header><h2>${words.sent}</h2></header><div class="pad stack s">${fields(
    headers.map(([name, value]) => [name, value ?? html`<i>${words.changedSince}</i>`]),
  )}${text(words.sent, body.slice(0, MAX_BODY))}<p class="hint">${words.bodyText}${
    missing > 0 && ` ${words.missing(format.number(missing))}`
  }${
    body.length > MAX_BODY && ` ${words.cutText(format.number(MAX_BODY), format.number(body.length))}`
  }</p></div></section>`
}

function receivedBox({ language }: AccountCall, { answerHeaders, answer, status }: WebhookRequest): Html {
  const words = webhooksWords(language)
  return html`<section class="box w5"><header><h2>${words.received}</h2></header>${
    status === null
      ? html`<div class="void"><p>${words.noResponse}</p></div>`
      : html`<div class="pad stack s">${fields(answerHeaders.map(([name, value]) => [foreign(name), foreign(value)]))}${
          answer === '' ? html`<p class="hint">${words.noBody}</p>` : text(words.received, answer)
        }</div>`
  }</section>`
}

/** A text that scrolls by keyboard, too. */
function text(label: string, content: string): Html {
  return html`<div class="code"><pre class="any" tabindex="0" role="region" aria-label="${label}">${foreign(content)}</pre></div>`
}

/** Header fields, one per line. */
function fields(all: readonly (readonly [name: Value, value: Value])[]): Value {
  return (
    all.length > 0 &&
    html`<dl class="dl">${all.map(([name, value]) => html`<dt class="any">${name}</dt><dd class="any"><code>${value}</code></dd>`)}</dl>`
  )
}
