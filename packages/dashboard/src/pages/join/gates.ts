import { type Html, html, inputField, type Value } from '@postrider/ui'
import { type Answer, gate } from '../../frame/answer.ts'
import type { Call } from '../../frame/call.ts'
import { inboxUrl } from '../../frame/navigation.ts'
import { joinWords } from './join-words.ts'

/** The page of a link that was used or has expired: what to do now. */
export function goneGate({ language }: Call, text: string, next?: readonly [label: string, path: string]): Answer {
  const words = joinWords(language)
  const [label, path] = next ?? [words.logIn, '/app/login']
  return gate({
    title: words.goneTitle,
    status: 410,
    body: html`<div class="card"><h1>${words.goneTitle}</h1><p>${text}</p><a class="btn wide" href="${path}">${label}</a></div>`,
  })
}

/** The page after mail was requested. It is the same whether the address is known or not. */
export function sentGate({ config, language }: Call, text: string): Answer {
  const words = joinWords(language)
  const inbox = inboxUrl(config)
  return gate({
    title: words.sentTitle,
    body: html`<div class="card"><h1>${words.sentTitle}</h1><p>${text}</p>${inbox && html`<p><a href="${inbox}">${words.sandbox}</a></p>`}
      <a class="btn wide" href="/app/login">${words.back}</a></div>`,
  })
}

interface FormGate {
  readonly title: string
  readonly lead: Value
  readonly action: string
  readonly problem?: string | undefined
  readonly status?: number | undefined
  readonly fields: Value
  readonly button: string
  /** Below the card. */
  readonly foot?: Value
}

/** A gate with one form. */
export function formGate({ title, lead, action, problem, status, fields, button, foot }: FormGate): Answer {
  return gate({
    title,
    status: status ?? (problem === undefined ? 200 : 400),
    body: html`<div class="card"><div><h1>${title}</h1><p class="lead">${lead}</p></div><form class="stack s" method="post" action="${action}">${
      problem !== undefined && html`<p class="oops" role="alert">${problem}</p>`
    }${fields}<button class="btn main wide" type="submit">${button}</button></form></div>${foot && html`<p class="hint">${foot}</p>`}`,
  })
}

/** The field of a password that is chosen now. */
export function newPassword({ language }: Call, label: string): Html {
  const hint = joinWords(language).passwordHint
  return inputField({ name: 'password', label, type: 'password', autocomplete: 'new-password', required: true, hint })
}

/** Carries the token of a link in the form. */
export function tokenField(token: string): Html {
  return html`<input type="hidden" name="token" value="${token}">`
}
