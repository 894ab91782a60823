import type { DeadBatch, Webhook, WebhookDelivery } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type AccountCall, field } from '../../frame/call.ts'
import { pager } from '../../frame/pager.ts'
import { actButton } from '../../frame/parts.ts'
import { webhooksWords } from './webhooks-words.ts'

/** The latest requests, of which the figures are; and those that the page shows. */
export const DELIVERIES = 200
export const MAX_SHOWN = 25

/** Figures of the latest requests: how many succeeded, and the milliseconds until the response. */
export function deliveryFigures(deliveries: readonly WebhookDelivery[]) {
  const times = deliveries.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return {
    good: deliveries.filter(({ problem }) => problem === null).length,
    median: times[Math.floor(times.length / 2)],
    slowest: times.at(-1),
  }
}

/** The latest requests with the receiver's status, all or only those that failed. */
export function deliveriesBox(call: AccountCall, { id }: Webhook, deliveries: readonly WebhookDelivery[]): Html {
  const { language, path, query } = call
  const words = webhooksWords(language)
  const isFailed = field(query, 'show') === 'failed'
  const shown = deliveries.slice(0, MAX_SHOWN)
  const link = (label: string, of: string, current: boolean) =>
    html`<a href="${path(`webhooks/${id}`)}${of}"${current && html` aria-current="true"`}>${label}</a>`
  return html`<section class="box"><header><h2>${words.deliveries}</h2><p>${words.keptText}</p><nav class="seg push" aria-label="${words.which}">
    ${link(words.all, '', !isFailed)}${link(words.failed, '?show=failed', isFailed)}</nav></header>${
      shown.length === 0
        ? html`<div class="void"><p>${isFailed ? words.noFailed : words.noDeliveries}</p></div>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="${words.deliveries}"><table class="hov"><thead><tr><th>${words.answer}</th><th>
        ${words.range}</th><th class="wide-only">${words.batch}</th><th class="n wide-only">${words.attempt}</th><th class="n wide-only">${words.took}
        </th><th class="n">${words.when}</th></tr></thead><tbody>${shown.map((one) =>
          row(call, id, one),
        )}</tbody></table></div>`
    }</section>`
}

function row({ format, icon, language, path }: AccountCall, webhookId: number, delivery: WebhookDelivery): Html {
  const { id, after, to, attempt, at, batchId, milliseconds, problem, status } = delivery
  const words = webhooksWords(language)
  const tone = problem === null ? 'good' : 'bad'
  const result = status === null ? words.noAnswer : String(status)
  return html`<tr><td><span class="state ${tone}">${icon(problem === null ? 's-delivered' : 's-bounced', tone)}<a class="go"
  href="${path(`webhooks/${webhookId}/requests/${id}`)}"><span>${result}</span></a></span>${
    problem !== null && status === null && html`<small class="any">${foreign(problem)}</small>`
  }</td><td class="dim">${range(format.number, after, to)}</td><td class="wide-only mono dim">msg_${batchId.slice(0, 8)}…</td>
  <td class="n wide-only dim">${format.number(attempt)}</td><td class="n wide-only dim">${format.duration(milliseconds)}</td><td class="n faint">
  ${format.time(at)}</td></tr>`
}

export function range(number: (value: number) => string, after: number, to: number): string {
  return to === after + 1 ? number(to) : `${number(after + 1)}–${number(to)}`
}

interface DeadPage {
  readonly batches: readonly DeadBatch[]
  readonly total: number
  readonly offset: number
}

/** Batches that failed for three days while others succeeded; they are sent again only on request. */
export function deadBox(call: AccountCall, { id }: Webhook, { batches, total, offset }: DeadPage): Value {
  if (total === 0) return null
  const { format, icon, language, may, path } = call
  const words = webhooksWords(language)
  const again = path(`webhooks/${id}/redeliver`)
  return html`<section class="box"><header>${icon('warn', 'wait')}<h2>${words.dead(format.number(total), total)}</h2><p>${words.deadText}</p>${
    may('webhooks') && html`<div class="push">${actButton(words.sendAll, again)}</div>`
  }</header><div class="scroll" tabindex="0" role="region" aria-label="${words.deadTable}"><table><thead><tr><th>${words.range}</th><th>
  ${words.problem}</th><th class="n wide-only">${words.attempt}</th><th class="n wide-only">${words.lastTry}</th><th><span class="sr">
  ${words.sendAgain}</span></th></tr></thead><tbody>${batches.map(
    (batch) =>
      html`<tr><td>${range(format.number, batch.after, batch.to)}</td><td class="any dim">${foreign(batch.problem ?? '')}</td>
        <td class="n wide-only dim">${format.number(batch.attempts)}</td><td class="n wide-only faint">${format.time(batch.failedAt)}</td><td class="n">${
          may('webhooks') &&
          actButton(words.sendAgain, again, html`<input type="hidden" name="batch" value="${batch.id}">`)
        }</td></tr>`,
  )}</tbody></table></div>${pager(call, { at: `webhooks/${id}`, offset, limit: 10, total })}</section>`
}
