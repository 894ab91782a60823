import { type AccountSettings, DELIVERY_CLASSES, NOTICE_KINDS, REQUIREMENT_MODES } from '@postrider/core'
import { checkField, html, inputField, selectField, textField } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, type Form, field, fields } from '../../frame/call.ts'
import { byApi, pageHead, problemNote } from '../../frame/parts.ts'
import { zoneChoices } from '../../frame/preferences.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { tlsNote } from '../../frame/tls-note.ts'
import { settingsWords } from './settings-words.ts'

export const SETTINGS: readonly DashboardRoute[] = [
  account('GET', '/settings', 'account.read', async (call) => settingsPage(call, await settingsOf(call))),
  account('POST', '/settings', 'account', changeSettings),
  account('POST', '/settings/name', 'account', rename),
]

const settingsOf = ({ core, account: own }: AccountCall): Promise<AccountSettings> =>
  core.accounts.settings.show(own.id)

const MAIL_SWITCHES = [
  'openTracking',
  'clickTracking',
  'unsubscribeLink',
  'generateText',
  'privacyMode',
  'hostsMaySend',
  'mailReports',
  'keepContent',
] as const
const SWITCHES = [...MAIL_SWITCHES, 'accountNotices'] as const

async function settingsPage(
  call: AccountCall,
  settings: AccountSettings,
  problem?: string,
  name?: string,
): Promise<Answer> {
  const { core, language, path } = call
  const words = settingsWords(language)
  const stored = await core.accounts.find(call.account.id)
  const nameForm =
    call.may('account') &&
    stored?.parentId === null &&
    html`<section class="box"><form class="pad row" method="post" action="${path('settings/name')}">
${inputField({ name: 'name', label: words.name, value: name ?? stored.name, hint: words.nameHint, maxlength: 100, required: true })}
<button class="btn" type="submit">${words.rename}</button></form></section>`
  const days = (value: number | null) => (value === null || Number.isNaN(value) ? '' : String(value))
  const hints: Readonly<Record<string, string>> = {
    openTracking: words.openTrackingHint,
    clickTracking: words.clickTrackingHint,
    generateText: words.generateTextHint,
    hostsMaySend: words.hostsMaySendHint,
    mailReports: words.mailReportsHint,
    keepContent: words.keepContentHint,
  }
  const check = (name: (typeof SWITCHES)[number]) => {
    const hint = hints[name]
    return checkField({ name, label: words[name], checked: settings[name], ...(hint === undefined ? {} : { hint }) })
  }
  const muted = settings.mutedNotices.split(',')
  const fields = html`<div class="cols">
<section class="box"><header><h2>${words.mail}</h2></header><div class="pad stack s">${selectField({
    name: 'mailClass',
    label: words.mailClass,
    value: settings.mailClass,
    choices: DELIVERY_CLASSES.map((one) => [one, words.classes[one]]),
    hint: words.mailClassHint,
  })}${selectField({
    name: 'requirements',
    label: words.requirements,
    value: settings.requirements ?? '',
    choices: [
      ['', words.byOperator(words.requirementModes[call.config.requirements])],
      ...REQUIREMENT_MODES.map((one) => [one, words.requirementModes[one]] as const),
    ],
    hint: words.requirementsHint,
  })}${MAIL_SWITCHES.map(check)}${inputField({
    name: 'fallbackSender',
    label: words.fallbackSender,
    value: settings.fallbackSender ?? '',
    hint: words.fallbackSenderHint,
    maxlength: 254,
  })}</div></section>
<section class="box"><header><h2>${words.times}</h2></header><div class="pad stack s">
  ${selectField({ name: 'timeZone', label: words.timeZone, value: settings.timeZone, choices: zoneChoices(settings.timeZone), hint: words.timeZoneHint })}
${inputField({ name: 'eventDays', label: words.eventDays, type: 'number', value: days(settings.eventDays), hint: words.daysHint })}
${inputField({ name: 'bodyDays', label: words.bodyDays, type: 'number', value: days(settings.bodyDays), hint: words.daysHint })}</div></section>
<section class="box"><header><h2>${words.footer}</h2></header><div class="pad stack s">
  ${textField({ name: 'footerHtml', label: words.footerHtml, value: settings.footerHtml ?? '', rows: 3 })}
${textField({ name: 'footerText', label: words.footerText, value: settings.footerText ?? '', rows: 3, hint: words.footerHint })}
${textField({ name: 'unsubscribeHtml', label: words.unsubscribeHtml, value: settings.unsubscribeHtml ?? '', rows: 2 })}
${textField({
  name: 'unsubscribeText',
  label: words.unsubscribeText,
  value: settings.unsubscribeText ?? '',
  rows: 2,
  hint: words.unsubscribeHint,
})}</div></section>
<section class="box"><header><h2>${words.notices}</h2></header><div class="pad stack s">${check('accountNotices')}
<fieldset class="opts"><legend class="label">${words.kinds}</legend>${NOTICE_KINDS.map((kind) =>
    checkField({ name: 'kinds', value: kind, label: words.noticeKinds[kind], checked: !muted.includes(kind) }),
  )}</fieldset></div></section></div>`
  const form = html`<form class="stack" method="post" action="${path('settings')}">${fields}
<div class="row"><button class="btn main" type="submit">${words.save}</button></div></form>`
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead)}${problemNote(call, problem)}${await tlsNote(call, call.account.id)}${nameForm}${
      call.may('account')
        ? form
        : html`<fieldset class="opts" disabled>
      ${fields}</fieldset>`
    }
${byApi(call, { method: 'GET', path: '/v2/account' })}`,
  })
}

/** The settings of the form: a switch that was not sent is off, an empty number is none. */
function wantedOf(form: Form): AccountSettings {
  const switches = Object.fromEntries(SWITCHES.map((name) => [name, form[name] !== undefined]))
  const days = (name: string) => (field(form, name) === '' ? null : Number(field(form, name)))
  return {
    ...(switches as Record<(typeof SWITCHES)[number], boolean>),
    mutedNotices: NOTICE_KINDS.filter((kind) => !fields(form, 'kinds').includes(kind)).join(','),
    mailClass: field(form, 'mailClass') as AccountSettings['mailClass'],
    footerHtml: lines(form, 'footerHtml'),
    footerText: lines(form, 'footerText'),
    unsubscribeHtml: lines(form, 'unsubscribeHtml'),
    unsubscribeText: lines(form, 'unsubscribeText'),
    fallbackSender: field(form, 'fallbackSender'),
    requirements: (field(form, 'requirements') || null) as AccountSettings['requirements'],
    timeZone: field(form, 'timeZone'),
    eventDays: days('eventDays'),
    bodyDays: days('bodyDays'),
  }
}

/** Browsers send lines with CRLF. */
function lines(form: Form, name: string): string {
  const text = form[name]
  return typeof text === 'string' ? text.replaceAll('\r\n', '\n') : ''
}

async function changeSettings(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, by, path } = call
  const wanted = wantedOf(form)
  const changed = await attempt(() => core.accounts.settings.change(own.id, wanted, by))
  return changed.ok ? redirect(path('settings'), 'saved') : settingsPage(call, wanted, changed.problem)
}

async function rename(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, by, path } = call
  const name = field(form, 'name')
  const renamed = await attempt(() => core.accounts.renameOwn(own.id, name, by))
  if (renamed.ok) {
    // The frame has the name that the session remembers.
    core.people.sessions.forget()
    return redirect(path('settings'), 'saved')
  }
  return settingsPage(call, await settingsOf(call), renamed.problem, name)
}
