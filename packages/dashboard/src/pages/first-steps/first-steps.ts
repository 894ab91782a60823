import { type DomainWithRecords, plainMail } from '@postrider/core'
import { type Html, html, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { inboxUrl } from '../../frame/navigation.ts'
import { byApi, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { trialNote } from '../../frame/trial.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { hasRecords } from '../domains/domain-state.ts'
import { foundRecords } from '../domains/domains.ts'
import { subject } from '../messages/messages.ts'
import { firstStepsWords } from './first-steps-words.ts'
import { type Progress, progressOf } from './progress.ts'
import { SNIPPETS, snippet } from './snippets.ts'

export const FIRST_STEPS: readonly DashboardRoute[] = [
  account('GET', '/first-steps', 'events', (call) => firstSteps(call)),
  account('POST', '/first-steps/test', 'send', sendTest),
]

async function firstSteps(call: AccountCall, problem?: string): Promise<Answer> {
  const { language } = call
  const words = firstStepsWords(language)
  const progress = await progressOf(call)
  const steps = stepsOf(call, progress)
  const done = steps.filter(({ isDone }) => isDone).length
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    // Keys, domains and reads of the feed are no events.
    live: 'both',
    body: html`${pageHead(words.title, words.lead)}${problemNote(call, problem)}${trialNote(call, progress.trial)}
<div class="cols"><div class="w8 box">${steps.map((step) => stepItem(call, step))}</div>
<aside class="w4 stack"><section class="box"><header><h2>${words.done(done)}</h2></header><div class="pad">
  <progress value="${done}" max="6" aria-label="${words.done(done)}"></progress></div></section>${inboxUrl(call.config) && behaviours(call)}</aside></div>
${examples(call, progress)}`,
  })
}

interface Step {
  readonly isDone: boolean
  readonly title: string
  readonly text: Value
  readonly action?: Value
  /** Below the action. */
  readonly more?: Value
}

function stepsOf(
  call: AccountCall,
  { keyPrefix, latest, delivered, domain, hasWebhook, isFeedRead, sender }: Progress,
): readonly Step[] {
  const { config, format, language, may, path, visitor } = call
  const words = firstStepsWords(language)
  const inbox = inboxUrl(config)
  const email = visitor.user.email
  const test =
    sender !== undefined &&
    email !== null &&
    may('send') &&
    html`<form method="post" action="${path('first-steps/test')}"><button class="btn${latest ? '' : ' main'}" type="submit">${words.sendTest}</button></form>`
  const link = (to: string, label: string) => html`<a class="btn" href="${path(to)}">${label}</a>`
  return [
    { isDone: true, title: words.runs, text: words.runsText(`${config.publicUrl}/v2`) },
    {
      isDone: keyPrefix !== undefined,
      title: words.key,
      text: keyPrefix === undefined ? words.noKeyText : words.keyText(keyPrefix),
      action: may('keys') && link('keys/new', words.makeKey),
    },
    {
      isDone: latest !== undefined,
      title: words.accepted,
      text: latest
        ? html`${words.acceptedText} <a href="${path(`messages/${latest.messageId}`)}">${subject(call, latest.subject)}</a>, ${format.ago(latest.acceptedAt)}`
        : words.notAcceptedText,
      action: test,
    },
    {
      isDone: delivered !== undefined,
      title: words.delivered,
      text: delivered?.finishedAt
        ? html`<a href="${path(`messages/${delivered.messageId}`)}">${subject(call, delivered.subject)}</a>:${' '}
          ${words.deliveredText(format.duration(delivered.finishedAt.getTime() - delivered.acceptedAt.getTime()))}
          ${inbox && html` <a href="${inbox}">${words.inInbox}</a>`}`
        : words.notDeliveredText,
    },
    {
      isDone: domain !== undefined && domain.state === 'active' && hasRecords(domain),
      title: words.domain,
      text: domain === undefined ? words.domainText : domainText(call, domain),
      action: domain === undefined && may('domains') && link('domains/new', words.addDomain),
    },
    {
      isDone: hasWebhook || isFeedRead,
      title: words.webhook,
      text: hasWebhook ? words.webhookDone : isFeedRead ? words.feedDone : words.webhookText,
      action: !hasWebhook && !isFeedRead && may('webhooks') && link('webhooks/new', words.addWebhook),
      more: !hasWebhook && !isFeedRead && byApi(call, { method: 'GET', path: '/v2/events/feed' }),
    },
  ]
}

function domainText({ language, may, path }: AccountCall, domain: DomainWithRecords): Value {
  const words = firstStepsWords(language)
  if (domain.state === 'active' && hasRecords(domain)) return words.domainDone(domain.name)
  const found = foundRecords(language, domain)
  return html`${words.domainAdded(domain.name)} ${may('domains.see') ? html`<a href="${path(`domains/${domain.name}`)}">${found}</a>` : found}`
}

function stepItem({ icon }: AccountCall, { isDone, title, text, action, more }: Step): Html {
  return html`<section class="step">${isDone ? icon('s-delivered', 'good') : icon('s-scheduled', 'idle')}<h2>${title}</h2><p>${text}</p>
    ${action && html`<div class="row">${action}</div>`}${more}</section>`
}

function behaviours({ language }: AccountCall): Html {
  const words = firstStepsWords(language)
  const row = (address: string, what: string) => html`<dt><code>${address}</code></dt><dd>${what}</dd>`
  const { bounce, defer, slow, full, complain } = words.behaviours
  return html`<section class="box"><header><h2>${words.difficult}</h2></header><div class="pad stack s"><p class="dim small">${words.difficultText}
    </p><dl class="dl">${row('bounce@…', bounce)}${row('defer-2@…', defer)}${row('slow-20@…', slow)}${row('mailbox-full@…', full)}
    ${row('complain@…', complain)}</dl></div></section>`
}

function examples(call: AccountCall, { keyPrefix, sender, trial }: Progress): Html {
  const { config, icon, language, path, query, visitor } = call
  const words = firstStepsWords(language)
  const chosen = SNIPPETS.find((name) => name === field(query, 'with')) ?? SNIPPETS[0]
  const text = snippet(chosen, {
    url: config.publicUrl,
    from: sender ?? 'hello@YOUR_DOMAIN',
    to: trial?.to ?? visitor.user.email ?? 'you@example.org',
    relayHost: new URL(config.publicUrl).hostname,
    relayPort: config.relayPort,
  })
  return html`<section class="stack s"><h2>${words.examples}</h2><nav class="pick" aria-label="${words.language}">${SNIPPETS.map(
    (name) =>
      html`<a class="chip" href="${path('first-steps')}?with=${name}"${name === chosen && html` aria-current="true"`}>${name}</a>`,
  )}</nav>
<div class="code"><pre tabindex="0" id="example">${text}</pre>
  <button class="btn s icon copy" type="button" data-copy-from="example" aria-label="${frameWords(language).copy(chosen)}">${icon('copy')}</button></div>
<p class="hint">${words.keyHint(keyPrefix ?? 'pr_')}</p></section>`
}

/** Accepts a message to the visitor's own address, by the same rules as any other. */
async function sendTest(call: AccountCall): Promise<Answer> {
  const { account: own, address, core, language, path, visitor } = call
  const words = firstStepsWords(language)
  const { sender, trial } = await progressOf(call)
  const principal = await core.people.principal(visitor, own.id)
  const to = trial?.to ?? visitor.user.email
  if (!principal || !sender || to === null) return redirect(path('first-steps'))
  const from = { email: sender, name: own.name }
  const sent = await attempt(() =>
    core.messages.accept({
      ...plainMail({ principal, from, to, clientAddress: address }),
      subject: words.subject,
      content: { kind: 'parts', html: `<p>${words.body}</p>`, text: words.body, amp: undefined },
    }),
  )
  return sent.ok ? redirect(path('first-steps'), 'sent') : firstSteps(call, sent.problem)
}
