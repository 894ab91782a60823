import { DELIVERY_CLASSES, type NewKey, parseScheduleTime, type Scope } from '@postrider/core'
import { checkField, type FieldOptions, type Html, html, inputField, selectField } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import type { Attempt } from '../../frame/attempt.ts'
import { type AccountCall, field, fields } from '../../frame/call.ts'
import { pageHead, problemNote } from '../../frame/parts.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { keysWords } from './keys-words.ts'
import { ownScopes, PRESETS, type Preset, presetOf, scopesOf } from './presets.ts'
import { SCOPE_GROUPS, scopeWords } from './scope-words.ts'

/** The fields that restrict a key, with the names that core's errors have for them. */
const RESTRICTIONS = {
  senderDomains: 'restrictions.sender_domains',
  recipientDomains: 'restrictions.recipient_domains',
  templates: 'restrictions.templates',
  networks: 'networks',
  perHour: 'restrictions.recipients_per_hour',
  class: 'restrictions.class',
  until: 'restrictions.until',
} as const
type Restriction = keyof typeof RESTRICTIONS

type Refused = Extract<Attempt<unknown>, { ok: false }>

/** The key that a submitted form describes. Core refuses numbers and days that are invalid. */
export function keyOf(call: AccountCall): NewKey {
  const { account: own, form, format } = call
  const list = (name: Restriction) => {
    const entries = field(form, name)
      .split(/[\s,]+/, 200)
      .filter((text) => text !== '')
    return entries.length > 0 ? entries : undefined
  }
  const number = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)
  const perHour = field(form, 'perHour')
  const day = field(form, 'until')
  // The last second of the day on the account's clocks.
  const until = day === '' ? undefined : parseScheduleTime(`${day}T23:59:59`, format.dayZone)
  return {
    accountId: own.id,
    name: field(form, 'name'),
    scopes: scopesOf(call),
    networks: list('networks') ?? [],
    restrictions: given({
      senderDomains: list('senderDomains'),
      recipientDomains: list('recipientDomains'),
      templates: list('templates')?.map(number),
      recipientsPerHour: perHour === '' ? undefined : number(perHour),
      class: DELIVERY_CLASSES.find((one) => one === field(form, 'class')),
      until: until && ('at' in until ? until.at : new Date(Number.NaN)),
    }),
  }
}

/** Without the fields that are not given. */
function given<T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never
}

export function keyForm(call: AccountCall, refused?: Refused): Answer {
  const { form, language, path } = call
  const words = keysWords(language)
  const parameter = refused?.error?.values.parameter
  const problem = refused && String(refused.error?.values.problem ?? refused.problem)
  const isField = parameter === 'name' || Object.values<unknown>(RESTRICTIONS).includes(parameter)
  const wrong = (name: string) => (parameter === name ? { problem } : {})
  const name = { name: 'name', label: words.name, value: field(form, 'name'), hint: words.nameHint, maxlength: 100 }
  const nameField = inputField({ ...name, required: true, autofocus: true, ...wrong('name') })
  return page({
    title: words.make,
    status: refused ? 400 : 200,
    crumbs: [[words.title, path('keys')]],
    body: html`${pageHead(words.make, words.scopesHint)}${problemNote(call, isField ? undefined : refused?.problem)}
<section class="box"><form class="pad stack" method="post" action="${path('keys')}">
${nameField}
<fieldset class="opts"><legend class="label">${words.scopes}</legend>${PRESETS.map((one) => presetField(call, one))}${scopeFields(call)}</fieldset>
<details${(isField || isRestricted(call)) && html` open`}><summary class="q">${words.restrict}</summary><div class="fields later">${restrictionFields(
      call,
      wrong,
    )}</div></details>
<div class="row"><button class="btn main" type="submit">${words.make}</button><a class="btn" href="${path('keys')}">${frameWords(language).cancel}</a>
  </div></form></section>`,
  })
}

function presetField(call: AccountCall, preset: Preset): Html {
  const words = keysWords(call.language)
  const { label, text } = words.presets[preset]
  const isOwner = call.account.role === 'owner'
  return html`<label class="opt"><input type="radio" name="preset" value="${preset}"${presetOf(call) === preset && html` checked`}><span>${label}<small>
    ${preset === 'full' && !isOwner ? words.fullOfRole : text}</small></span></label>`
}

/** The scopes in words, shown while a visitor chooses them. */
function scopeFields(call: AccountCall): Html {
  const words = scopeWords(call.language)
  const own = ownScopes(call)
  const chosen = fields(call.form, 'scopes')
  const box = (scope: Exclude<Scope, `${string}.${string}`>) =>
    checkField({
      name: 'scopes',
      value: scope,
      label: words.names[scope],
      hint: words.meanings[scope],
      checked: chosen.includes(scope),
    })
  return html`<div class="chosen">${SCOPE_GROUPS.map(([group, scopes]) => {
    const shown = scopes.filter((scope) => own.includes(scope))
    return (
      shown.length > 0 &&
      html`<fieldset class="opts"><legend class="label">${words.groups[group]}</legend>${shown.map(box)}</fieldset>`
    )
  })}</div>`
}

function isRestricted({ form }: AccountCall): boolean {
  return Object.keys(RESTRICTIONS).some((name) => field(form, name) !== '')
}

function restrictionFields(call: AccountCall, wrong: (parameter: string) => Partial<FieldOptions>): Html {
  const { form, language } = call
  const words = keysWords(language)
  const input = (name: Restriction, more: Partial<FieldOptions> = {}) =>
    inputField({
      name,
      label: words.restrictions[name].label,
      hint: words.restrictions[name].text,
      value: field(form, name),
      ...more,
      ...wrong(RESTRICTIONS[name]),
    })
  return html`${input('senderDomains', { placeholder: 'ship.example' })}${input('recipientDomains', { placeholder: 'ship.example' })}
${input('templates', { placeholder: '5' })}${input('networks', { placeholder: '192.0.2.0/24' })}${input('perHour', { placeholder: '500' })}
${selectField({
  name: 'class',
  label: words.restrictions.class.label,
  hint: words.restrictions.class.text,
  value: field(form, 'class'),
  choices: [['', words.anyClass] as const, ...DELIVERY_CLASSES.map((one) => [one, words.classes[one]] as const)],
})}${input('until', { type: 'date' })}`
}
