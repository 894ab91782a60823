import type { Passkey } from '@postrider/core'
import { foreign, type Html, html, inputField, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { PASSKEY_SCRIPT, passkeyAnswer, passkeyForm } from '../../frame/forms/passkey-form.ts'
import { proved } from '../../frame/forms/proof.ts'
import { actButton, ask, pageHead, problemNote } from '../../frame/parts.ts'
import { passkeysWords } from './passkeys-words.ts'
import { recoveryCodes } from './recovery-codes.ts'

const AT = '/app/security/passkeys'

/** The part of the page about passkeys. */
export async function passkeysBox(call: UserCall): Promise<Html> {
  const { core, config, icon, language, visitor } = call
  const words = passkeysWords(language)
  const passkeys = await core.people.passkeys.list(visitor.user.id)
  const state =
    passkeys.length > 0
      ? html`<span class="push state good">${icon('check', 'good')}<span>${words.on}</span></span>`
      : html`<span class="push state idle">${icon('x', 'idle')}<span>${words.none}</span></span>`
  const add = core.people.passkeys.isOn
    ? html`<div class="row">${actButton(words.add, `${AT}/new`)}</div>`
    : html`<p class="hint">${words.impossible(config.publicUrl)}</p>`
  return html`<section class="box" id="passkeys"><header><h2>${words.title}</h2>${state}</header>${passkeyList(call, passkeys)}
    <div class="pad stack s"><p class="dim">${words.text}</p>${add}</div></section>`
}

function passkeyList(call: UserCall, passkeys: readonly Passkey[]): Value {
  const { format, language } = call
  const words = passkeysWords(language)
  return (
    passkeys.length > 0 &&
    html`<ul class="list">${passkeys.map(
      ({ id, name, createdAt, usedAt }, at) =>
        html`<li><div><b class="any">${foreign(name)}</b><p>
          ${words.since(format.plainTime(createdAt))}, ${usedAt ? words.used(format.plainTime(usedAt)) : words.unused}</p></div>${ask(
            {
              language: call.language,
              id: `passkey-${at}`,
              button: words.remove,
              title: words.removeTitle,
              text: words.removeText,
              action: `${AT}/remove`,
              fields: html`<input type="hidden" name="id" value="${id}">`,
            },
          )}</li>`,
    )}</ul>`
  )
}

/** The form for a new passkey: its name, and what the browser makes. */
export const newPasskey = (call: UserCall): Promise<Answer> => proved(call, (call) => newPasskeyForm(call))

async function newPasskeyForm(call: UserCall, problem?: string): Promise<Answer> {
  const { core, config, form, language, visitor } = call
  const words = passkeysWords(language)
  if (!core.people.passkeys.isOn) return redirect('/app/security')
  const options = await attempt(() => core.people.passkeys.beginRegistration(visitor))
  const refused = problem ?? (options.ok ? undefined : options.problem)
  const name = inputField({
    name: 'name',
    label: words.name,
    value: field(form, 'name') || words.usualName,
    hint: words.nameHint,
    required: true,
    maxlength: 100,
  })
  return page({
    title: words.newTitle,
    status: refused === undefined ? 200 : 400,
    crumbs: [[words.security, '/app/security']],
    scripts: PASSKEY_SCRIPT,
    body: html`${pageHead(words.newTitle, words.newLead)}${problemNote(call, refused)}${
      options.ok &&
      html`<section class="box pad stack"><p data-no-passkey>${words.unsupported(config.publicUrl)}</p>${passkeyForm(
        call,
        {
          kind: 'create',
          action: AT,
          options: options.value,
          fields: name,
          button: words.create,
          main: true,
        },
      )}</section>`
    }`,
  })
}

export const addPasskey = (call: UserCall): Promise<Answer> =>
  proved(call, async (call) => {
    const { core, form, visitor, address, language } = call
    const response = passkeyAnswer(form)
    if (response === undefined) return newPasskeyForm(call, passkeysWords(language).noAnswer)
    const passkey = { name: field(form, 'name'), response }
    const made = await attempt(() => core.people.passkeys.finishRegistration(visitor, passkey, address))
    if (!made.ok) return newPasskeyForm(call, made.problem)
    const codes = made.value.recoveryCodes
    return codes ? recoveryCodes(call, codes) : redirect('/app/security', 'added')
  })

export const removePasskey = (call: UserCall): Promise<Answer> =>
  proved(call, async (call) => {
    const { core, form, visitor, address } = call
    const isRemoved = await core.people.passkeys.remove(visitor, field(form, 'id'), address)
    return isRemoved ? redirect('/app/security', 'removed') : notFound(call)
  })
