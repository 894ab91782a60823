import { type Html, html, inputField } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { proved } from '../../frame/forms/proof.ts'
import { actButton, ask, copyable, pageHead } from '../../frame/parts.ts'
import { qrCode } from './qr-code.ts'
import { recoveryCodes } from './recovery-codes.ts'
import { securityWords } from './security-words.ts'

const AT = '/app/security/codes'

/** The part of the page about one-time codes. */
export async function secondFactorBox({ core, format, icon, language, visitor }: UserCall): Promise<Html> {
  const words = securityWords(language)
  const { id, secondFactor } = visitor.user
  const [isOn, left] = await Promise.all([core.people.totp.isOn(id), core.people.totp.recoveryCodesLeft(id)])
  const state = isOn
    ? html`<span class="push state good">${icon('check', 'good')}<span>${words.factorOn}</span></span>`
    : html`<span class="push state idle">${icon('x', 'idle')}<span>${words.factorOff}</span></span>`
  const text = isOn ? words.factorOnText : secondFactor ? words.factorPasskeyText : words.factorOffText
  const renew = ask({
    language,
    id: 'renew',
    button: words.newCodes,
    title: words.newCodesTitle,
    text: words.newCodesText,
    action: `${AT}/recovery`,
  })
  const remove = ask({
    language,
    id: 'remove-codes',
    button: words.removeFactor,
    title: words.removeFactorTitle,
    text: words.removeFactorText,
    action: `${AT}/remove`,
  })
  return html`<section class="box" id="codes"><header><h2>${words.factor}</h2>${state}</header><div class="pad stack s"><p class="dim">${text}
    ${secondFactor && ` ${words.codesLeft(format.number(left))}`}</p><div class="row">${!isOn && actButton(words.setUp, AT)}${secondFactor && renew}
    ${isOn && remove}</div></div></section>`
}

/** Shows a new secret, which counts once a code of it was entered. */
export const beginCodes = (call: UserCall): Promise<Answer> =>
  proved(call, async (call) => {
    const begun = await attempt(() => call.core.people.totp.begin(call.visitor))
    if (!begun.ok) return redirect('/app/security')
    const words = securityWords(call.language)
    const { secret, url } = begun.value
    const shown = html`<div class="row gap">${qrCode(url, words.qr)}<div class="stack s"><p class="dim">${words.typeIt}</p>
      ${copyable(call, secret, words.secret)}</div></div>`
    return codeForm(call, shown)
  })

function codeForm({ language }: UserCall, shown: Html, problem?: string): Answer {
  const words = securityWords(language)
  return page({
    title: words.scanTitle,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, '/app/security']],
    body: html`${pageHead(words.scanTitle, words.scanLead)}<section class="box pad stack">${shown}
<form class="stack s" method="post" action="${AT}/confirm">
  ${inputField({
    name: 'code',
    label: words.code,
    autocomplete: 'one-time-code',
    required: true,
    autofocus: true,
    hint: words.codeHint,
    maxlength: 10,
    problem,
  })}
<div class="row"><button class="btn main" type="submit">${words.turnOn}</button></div></form></section>`,
  })
}

export const confirmCodes = (call: UserCall): Promise<Answer> =>
  proved(call, async (call) => {
    const { core, form, visitor, address, language } = call
    const words = securityWords(language)
    const confirmed = await attempt(() => core.people.totp.confirm(visitor, field(form, 'code'), address))
    if (confirmed.ok) return recoveryCodes(call, confirmed.value.recoveryCodes)
    const over = html`<div class="stack s"><p class="dim">${words.againText}</p><div class="row">${actButton(words.again, AT)}</div></div>`
    return codeForm(call, over, confirmed.problem)
  })

export const renewRecoveryCodes = (call: UserCall): Promise<Answer> =>
  proved(call, async (call) => {
    const made = await attempt(() => call.core.people.totp.newRecoveryCodes(call.visitor, call.address))
    return made.ok ? recoveryCodes(call, made.value) : redirect('/app/security')
  })

export const removeCodes = (call: UserCall): Promise<Answer> =>
  proved(call, async ({ core, visitor, address }) => {
    await core.people.totp.remove(visitor, address)
    return redirect('/app/security', 'removed')
  })
