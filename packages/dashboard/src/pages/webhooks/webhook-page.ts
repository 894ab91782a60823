import { eventType, type PendingEvents, shownHeaders, type Told, WEBHOOK_EVENTS, type Webhook } from '@postrider/core'
import { foreign, type Html, html, inputField, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { actButton, ask, byApi, copyable, pageHead, problemNote } from '../../frame/parts.ts'
import { DELIVERIES, deadBox, deliveriesBox, deliveryFigures, MAX_SHOWN } from './webhook-deliveries.ts'
import { stateOf, webhookName, webhookState } from './webhook-state.ts'
import { webhooksWords } from './webhooks-words.ts'

/** The result of an action, which the page shows once. */
export interface Outcome {
  readonly problem?: string
  readonly secret?: { readonly text: string; readonly isNew: boolean }
  readonly test?: Told & { readonly events: number }
}

/** One webhook: its state, the latest requests, dead letters, and settings. */
export async function webhookPage(call: AccountCall, webhook: Webhook, outcome: Outcome = {}): Promise<Answer> {
  const { core, account: own, language, may, path } = call
  const words = webhooksWords(language)
  const { id } = webhook
  const offset = Math.min(1000, Math.max(0, Math.trunc(Number(call.query.offset)) || 0))
  const isFailed = field(call.query, 'show') === 'failed'
  const [last, pending, deliveries, failed, dead] = await Promise.all([
    core.events.lastNumber(own.id),
    core.webhooks.pending(webhook),
    core.webhooks.deliveries(own.id, id, { limit: DELIVERIES }),
    isFailed ? core.webhooks.deliveries(own.id, id, { limit: MAX_SHOWN, failed: true }) : undefined,
    core.webhooks.dead(own.id, id, { limit: 10, offset }),
  ])
  const title = webhookName(webhook)
  return page({
    title,
    status: outcome.problem === undefined ? 200 : 400,
    live: 'clock',
    crumbs: [[words.title, path('webhooks')]],
    body: html`${pageHead(title, html`<span class="any">${webhook.url}</span>`, may('webhooks') && buttons(call, webhook))}
${problemNote(call, outcome.problem)}${outcome.secret && secretNote(call, webhook, outcome.secret)}${outcome.test && testBox(call, outcome.test)}
${tiles(call, webhook, { pending, deliveries })}${troubleNote(call, webhook)}
${deadBox(call, webhook, { ...dead, offset })}
${deliveriesBox(call, webhook, failed ?? deliveries)}
<div class="cols even">${settings(call, webhook)}${may('webhooks') && replayBox(call, webhook, last)}</div>
${may('webhooks') && actions(call, webhook)}
${byApi(call, { method: 'GET', path: `/v2/webhooks/${id}/deliveries` }, { method: 'POST', path: `/v2/webhooks/${id}/test` })}`,
  })
}

function buttons({ icon, language, path }: AccountCall, { id, enabled, format }: Webhook): Html {
  const words = webhooksWords(language)
  const act = (name: string, label: Value) =>
    html`<form method="post" action="${path(`webhooks/${id}/${name}`)}"><button class="btn" type="submit">${label}</button></form>`
  const names = WEBHOOK_EVENTS.filter((type) => eventType(type)[format] !== null)
  return html`<form class="row" method="post" action="${path(`webhooks/${id}/test`)}"><label class="sr" for="test-event">${words.testOf}</label>
  <select class="in" id="test-event" name="event"><option value="">${words.testAll}</option>${names.map(
    (type) => html`<option value="${type}">${words.types[type]}</option>`,
  )}</select><button class="btn" type="submit">${icon('send')}${words.test}</button></form>${
    enabled ? act('pause', html`${icon('pause')}${words.pause}`) : act('resume', html`${icon('play')}${words.resume}`)
  }<a class="btn main" href="${path(`webhooks/${id}/edit`)}">${words.editButton}</a>`
}

function tiles(
  call: AccountCall,
  webhook: Webhook,
  { pending, deliveries }: { pending: PendingEvents; deliveries: Parameters<typeof deliveryFigures>[0] },
): Html {
  const { format, language } = call
  const words = webhooksWords(language)
  const { good, median, slowest } = deliveryFigures(deliveries)
  const since = stateOf(webhook) === 'failing' ? webhook.failingSince : webhook.disabledAt
  return html`<section class="tiles" aria-label="${words.state}">
<div class="tile"><span class="k">${words.state}</span><span class="v">${webhookState(call, webhook)}</span><small>${
    since
      ? words.since(format.plainTime(since))
      : webhook.succeededAt
        ? html`${words.lastSuccess}: ${format.ago(webhook.succeededAt)}`
        : words.noSuccess
  }</small></div>
<div class="tile"><span class="k">${words.behind}</span><span class="v">${pendingText(call, pending)}</span><small>
  ${words.upTo(format.number(webhook.position))}</small></div>
<div class="tile"><span class="k">${words.went}</span><span class="v">${format.share(good, deliveries.length)}</span><small>
  ${words.ofRequests(format.number(good), format.number(deliveries.length))}</small></div>
<div class="tile"><span class="k">${words.answersIn}</span><span class="v">${median === undefined ? '–' : format.duration(median)}</span><small>
  ${slowest === undefined ? words.noRequests : words.slowest(format.duration(slowest))}</small></div>
</section>`
}

/** "12", or "20,000 or more". */
export function pendingText({ format, language }: AccountCall, { events, isAtLeast }: PendingEvents): string {
  const count = format.number(events)
  return isAtLeast ? webhooksWords(language).orMore(count) : count
}

function troubleNote({ format, icon, language }: AccountCall, webhook: Webhook): Value {
  const words = webhooksWords(language)
  const state = stateOf(webhook)
  if (state !== 'failing' && state !== 'disabled') return null
  const tone = state === 'failing' ? 'wait' : 'bad'
  const { failingSince, nextTryAt, disabledReason } = webhook
  const text =
    state === 'disabled'
      ? words.disabledText[disabledReason ?? 'unknown']
      : words.failingText(
          failingSince === null ? '' : format.plainTime(failingSince),
          nextTryAt === null ? '' : format.plainTime(nextTryAt),
        )
  return html`<div class="note ${tone}">${icon('warn', tone)}<div><b>${words.trouble[state]}</b>
    ${webhook.problem && html`<p>“${foreign(webhook.problem)}”</p>`}<p>${text}</p></div></div>`
}

/** The secret, which this page shows and no other. */
function secretNote(
  { icon, language, path }: AccountCall,
  { id }: Webhook,
  { text, isNew }: NonNullable<Outcome['secret']>,
): Html {
  const words = webhooksWords(language)
  return html`<section class="note good">${icon('check', 'good')}<div class="stack s"><div><b>${isNew ? words.made : words.rotated}</b><p>
    ${words.secretText}</p></div>
<div class="secret"><code id="secret">${text}</code><button class="btn main" type="button" data-copy-from="secret">${icon('copy')}${words.copy}</button></div>
<div class="row"><a href="${path(`webhooks/${id}`)}">${words.stored}</a></div></div></section>`
}

/** The response to a test, with the receiver's own text. */
function testBox({ format, icon, language }: AccountCall, test: NonNullable<Outcome['test']>): Html {
  const words = webhooksWords(language)
  const { status, milliseconds, problem, text, events } = test
  const tone = problem === undefined ? 'good' : 'bad'
  const sentence =
    status === null
      ? words.testNone(format.duration(milliseconds))
      : words.testAnswer(String(status), format.duration(milliseconds))
  return html`<section class="box"><header>${icon(problem === undefined ? 's-delivered' : 's-bounced', tone)}<h2>
    ${words.testTitle(format.number(events))}</h2></header><div class="pad stack s"><p class="sentence">${sentence}
    ${problem !== undefined && html` “${foreign(problem)}”`}</p>${
      text !== '' && html`<div class="code"><pre class="any">${foreign(text)}</pre></div>`
    }</div></section>`
}

function settings(call: AccountCall, { url, events, format, headers, publicKey }: Webhook): Html {
  const words = webhooksWords(call.language)
  const shown = Object.entries(shownHeaders(headers))
  return html`<section class="box w7"><header><h2>${words.settings}</h2></header><dl class="dl pad"><dt>${words.url}</dt><dd>
    ${copyable(call, url, words.url)}</dd><dt>${words.format}</dt><dd>${words.formats[format]}</dd><dt>${words.events}</dt><dd>
    ${events.map((type) => words.types[type]).join(', ')}</dd>${
      shown.length > 0 &&
      html`<dt>${words.headers}</dt><dd class="any">${shown.map(([name, value]) => html`<code>${name}: ${value}</code> `)}</dd>`
    }${format === 'v3' && html`<dt>${words.publicKey}</dt><dd>${copyable(call, publicKey, words.publicKey)}</dd>`}</dl></section>`
}

function replayBox({ language, path }: AccountCall, { id, position }: Webhook, last: number): Html {
  const words = webhooksWords(language)
  const field = inputField({
    name: 'from',
    label: words.replayFrom,
    type: 'number',
    value: String(Math.max(1, Math.min(position, last))),
    hint: words.replayHint,
    required: true,
  })
  return html`<section class="box w5"><header><h2>${words.replayTitle}</h2></header>
    <form class="pad stack s" method="post" action="${path(`webhooks/${id}/replay`)}">${field}<div class="row"><button class="btn" type="submit">
    ${words.replay}</button></div></form></section>`
}

/** A new secret, and removal. */
function actions({ language, path }: AccountCall, { id, url }: Webhook): Html {
  const words = webhooksWords(language)
  const remove = ask({
    language,
    id: 'remove',
    button: words.remove,
    title: words.removeTitle,
    text: words.removeText(url),
    action: path(`webhooks/${id}/remove`),
  })
  return html`<div class="row">${actButton(words.rotate, path(`webhooks/${id}/rotate`))}${remove}</div>`
}
