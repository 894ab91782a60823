import {
  RECIPIENT_EVENTS,
  shownHeaders,
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  type Webhook,
  type WebhookSettings,
} from '@postrider/core'
import { checkField, html, inputField, selectField, textField } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, type Form, field, fields } from '../../frame/call.ts'
import { pageHead, problemNote } from '../../frame/parts.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { webhookName } from './webhook-state.ts'
import { webhooksWords } from './webhooks-words.ts'

type Entered = Omit<WebhookSettings, 'names' | 'signed'>

/** The settings that a form contains. Events that the format does not have, and blank lines, are left out by core. */
export function settingsOf(form: Form): Entered {
  const ticked = (name: string) => field(form, name) === 'on'
  const events = fields(form, 'events')
  return {
    url: field(form, 'url'),
    label: field(form, 'label').slice(0, 100),
    format: WEBHOOK_FORMATS.find((one) => one === field(form, 'format')) ?? 'v2',
    events: WEBHOOK_EVENTS.filter((type) => events.includes(type)),
    domains: field(form, 'domains').split('\n', 100),
    tags: field(form, 'tags').split('\n', 100),
    headers: headersOf(field(form, 'headers')),
    asText: ticked('asText'),
    abuse: ticked('abuse'),
    eventIds: ticked('eventIds'),
    enabled: ticked('enabled'),
  }
}

/** Reads lines like `Name: value`. Core refuses names and values that are not valid. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n', 20).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim()]
    }),
  )
}

const NEW: Entered = {
  url: '',
  label: '',
  format: 'v2',
  events: RECIPIENT_EVENTS,
  headers: {},
  asText: false,
  abuse: false,
  eventIds: true,
  enabled: true,
}

/** The form of a new webhook, or of one that is changed. `problem`: the reason why the submitted form was refused. */
export function webhookForm(call: AccountCall, webhook: Webhook | undefined, problem?: string): Answer {
  const { form, language, path } = call
  const words = webhooksWords(language)
  const shown = problem === undefined ? (webhook ?? NEW) : settingsOf(form)
  const title = webhook ? words.edit : words.add
  const action = webhook ? path(`webhooks/${webhook.id}`) : path('webhooks')
  // Entered values are shown unchanged: a hidden one would be stored as the sign that hides it.
  const headers = Object.entries(problem === undefined ? shownHeaders(shown.headers) : shown.headers).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return page({
    title,
    status: problem === undefined ? 200 : 400,
    crumbs: [
      [words.title, path('webhooks')],
      ...(webhook ? [[webhookName(webhook), path(`webhooks/${webhook.id}`)] as const] : []),
    ],
    body: html`${pageHead(title, words.formLead)}${problemNote(call, problem)}<section class="box"><form class="pad stack" method="post" action="${action}">
${inputField({ name: 'url', label: words.url, type: 'url', value: shown.url, hint: words.urlHint, required: true, autofocus: !webhook, maxlength: 2048, placeholder: 'https://' })}
${inputField({ name: 'label', label: words.label, value: shown.label, hint: words.labelHint, maxlength: 100 })}
${selectField({
  name: 'format',
  label: words.format,
  value: shown.format,
  hint: words.formatHint,
  choices: WEBHOOK_FORMATS.map((one) => [one, words.formats[one]]),
})}
<fieldset class="opts many"><legend class="label">${words.events}</legend>${WEBHOOK_EVENTS.map((type) =>
      checkField({
        name: 'events',
        value: type,
        label: words.types[type],
        checked: shown.events.includes(type),
      }),
    )}</fieldset>
${textField({ name: 'domains', label: words.domains, value: (shown.domains ?? []).join('\n'), hint: words.domainsHint, rows: 2 })}
${textField({ name: 'tags', label: words.tags, value: (shown.tags ?? []).join('\n'), hint: words.tagsHint, rows: 2 })}
${textField({ name: 'headers', label: words.headers, value: headers.join('\n'), hint: words.headersHint, rows: 3, placeholder: 'X-Env: production' })}
<fieldset class="opts"><legend class="label">${words.options}</legend>
${checkField({ name: 'eventIds', label: words.eventIds, hint: words.eventIdsHint, checked: shown.eventIds })}
${checkField({ name: 'asText', label: words.asText, hint: words.asTextHint, checked: shown.asText })}
${checkField({ name: 'abuse', label: words.abuse, hint: words.abuseHint, checked: shown.abuse })}
${!webhook && checkField({ name: 'enabled', label: words.enabled, hint: words.enabledHint, checked: shown.enabled })}</fieldset>
<div class="row"><button class="btn main" type="submit">${webhook ? words.save : words.add}</button>
  <a class="btn" href="${webhook ? action : path('webhooks')}">${frameWords(language).cancel}</a></div></form></section>`,
  })
}
