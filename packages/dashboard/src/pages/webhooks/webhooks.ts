import type { PendingEvents, Webhook, WebhookAct } from '@postrider/core'
import { html } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { failurePage } from '../../frame/error-pages.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { settingsOf, webhookForm } from './webhook-form.ts'
import { pendingText, webhookPage } from './webhook-page.ts'
import { requestPage, resend } from './webhook-request.ts'
import { webhookState } from './webhook-state.ts'
import { webhooksWords } from './webhooks-words.ts'

export const WEBHOOKS: readonly DashboardRoute[] = [
  account('GET', '/webhooks', 'webhooks.read', webhookList),
  account('GET', '/webhooks/new', 'webhooks', async (call) => webhookForm(call, undefined)),
  account('POST', '/webhooks', 'webhooks', createWebhook),
  account('GET', '/webhooks/:id', 'webhooks.read', withWebhook(webhookPage)),
  account(
    'GET',
    '/webhooks/:id/edit',
    'webhooks',
    withWebhook(async (call, webhook) => webhookForm(call, webhook)),
  ),
  account('POST', '/webhooks/:id', 'webhooks', withWebhook(editWebhook)),
  account('POST', '/webhooks/:id/test', 'webhooks', withWebhook(testWebhook)),
  account('POST', '/webhooks/:id/pause', 'webhooks', withWebhook(enable(false))),
  account('POST', '/webhooks/:id/resume', 'webhooks', withWebhook(enable(true))),
  account('POST', '/webhooks/:id/rotate', 'webhooks', withWebhook(rotateSecret)),
  account('POST', '/webhooks/:id/replay', 'webhooks', withWebhook(replay)),
  account('POST', '/webhooks/:id/redeliver', 'webhooks', withWebhook(redeliver)),
  account('POST', '/webhooks/:id/remove', 'webhooks', withWebhook(remove)),
  account('GET', '/webhooks/:id/requests/:request', 'webhooks.read', withWebhook(requestPage)),
  account('POST', '/webhooks/:id/requests/:request/resend', 'webhooks', withWebhook(resend)),
]

type OfWebhook = (call: AccountCall, webhook: Webhook) => Promise<Answer>

/** A page of one webhook; another account's is not found. */
function withWebhook(act: OfWebhook): (call: AccountCall) => Promise<Answer> {
  return async (call) => {
    const { core, account: own, language, params } = call
    const id = Number(params.id)
    const isId = Number.isInteger(id) && id > 0 && id < 2 ** 31
    const found = isId ? await attempt(() => core.webhooks.show(own.id, id)) : undefined
    if (found?.ok) return act(call, found.value)
    const words = frameWords(language)
    return failurePage({ status: 404, title: words.notFound, text: words.notFoundText }, call)
  }
}

function actOn({ account: own, by }: AccountCall, { id }: Webhook): WebhookAct {
  return { accountId: own.id, id, by }
}

async function webhookList(call: AccountCall): Promise<Answer> {
  const { core, account: own, format, icon, language, may, path } = call
  const words = webhooksWords(language)
  const webhooks = await core.webhooks.list(own.id)
  const pending = await Promise.all(webhooks.map((webhook) => core.webhooks.pending(webhook)))
  const add =
    may('webhooks') && html`<a class="btn main" href="${path('webhooks/new')}">${icon('plus')}${words.add}</a>`
  return page({
    title: words.title,
    live: 'clock',
    body: html`${pageHead(words.title, words.lead, webhooks.length > 0 && add)}${
      webhooks.length === 0
        ? emptyBox(call, 'webhook', words.none, words.noneText, add)
        : html`<section class="box"><div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>
          ${words.url}</th><th>${words.state}</th><th class="n wide-only">${words.behind}</th><th class="n wide-only">${words.lastSuccess}</th></tr>
          </thead><tbody>${webhooks.map(
            (webhook, at) =>
              html`<tr><td><a class="go any" href="${path(`webhooks/${webhook.id}`)}">${webhook.label || webhook.url}</a><small>
                ${words.eventsOf(webhook.events.length, webhook.format)}</small></td><td>${webhookState(call, webhook)}</td>
                <td class="n wide-only dim">${pendingText(call, pending[at] as PendingEvents)}</td><td class="n wide-only faint">${
                  webhook.succeededAt ? format.ago(webhook.succeededAt) : words.never
                }</td></tr>`,
          )}</tbody></table></div></section>`
    }
${byApi(call, { method: 'GET', path: '/v2/webhooks' }, { method: 'POST', path: '/v2/webhooks', body: { url: 'https://ship.example/hook', events: 'sent,bounced' } })}`,
  })
}

async function createWebhook(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form } = call
  const settings = { ...settingsOf(form), names: null, signed: true }
  const made = await attempt(() => core.webhooks.create(own.id, settings, by))
  if (!made.ok) return webhookForm(call, undefined, made.problem)
  return webhookPage(call, made.value.webhook, { secret: { text: made.value.secret, isNew: true } })
}

async function editWebhook(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const { core, form, path } = call
  const { enabled: _, ...settings } = settingsOf(form)
  const events = [...settings.events].sort().join()
  // A list of names that was set by the v3 interface stays, unless the events change.
  const names = events === [...webhook.events].sort().join() ? {} : { names: null }
  const saved = await attempt(() => core.webhooks.update(actOn(call, webhook), { ...settings, ...names }))
  if (!saved.ok) return webhookForm(call, webhook, saved.problem)
  return redirect(path(`webhooks/${webhook.id}`), 'saved')
}

async function testWebhook(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const event = field(call.form, 'event')
  const tested = await attempt(() => call.core.webhooks.test(call.account.id, webhook.id, event || undefined))
  return webhookPage(call, webhook, tested.ok ? { test: tested.value } : { problem: tested.problem })
}

function enable(enabled: boolean): OfWebhook {
  return async (call, webhook) => {
    const changed = await attempt(() => call.core.webhooks.update(actOn(call, webhook), { enabled }))
    if (!changed.ok) return webhookPage(call, webhook, { problem: changed.problem })
    return redirect(call.path(`webhooks/${webhook.id}`), enabled ? 'resumed' : 'paused')
  }
}

async function rotateSecret(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const text = await call.core.webhooks.rotateSecret(actOn(call, webhook))
  return webhookPage(call, webhook, { secret: { text, isNew: false } })
}

async function replay(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const from = Number(field(call.form, 'from'))
  const problem = webhooksWords(call.language).replayInvalid
  if (!Number.isSafeInteger(from) || from < 1) return webhookPage(call, webhook, { problem })
  const replayed = await attempt(() => call.core.webhooks.replay(actOn(call, webhook), from))
  if (!replayed.ok) return webhookPage(call, webhook, { problem: replayed.problem })
  return redirect(call.path(`webhooks/${webhook.id}`), 'replayed')
}

/** Sends one dead-lettered batch again, or without an id all of them. */
async function redeliver(call: AccountCall, webhook: Webhook): Promise<Answer> {
  const batch = field(call.form, 'batch')
  const sent = await attempt(() => call.core.webhooks.redeliver(actOn(call, webhook), batch === '' ? undefined : batch))
  if (!sent.ok) return webhookPage(call, webhook, { problem: sent.problem })
  return redirect(call.path(`webhooks/${webhook.id}`), 'replayed')
}

async function remove(call: AccountCall, webhook: Webhook): Promise<Answer> {
  await call.core.webhooks.remove(actOn(call, webhook))
  return redirect(call.path('webhooks'), 'removed')
}
