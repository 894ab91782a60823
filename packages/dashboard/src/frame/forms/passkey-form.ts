import { type Html, html, type Value } from '@postrider/ui'
import { type Call, type Form, passwordField } from '../call.ts'
import { passkeyWords } from '../words/passkey-words.ts'

/** The script of pages with a form for a passkey. */
export const PASSKEY_SCRIPT = ['passkey.js'] as const

/** Longest answer of a browser that is read: one with a certificate chain has some 4,000 characters. */
const MAX_ANSWER = 16_000

interface PasskeyForm {
  /** Whether the browser makes a passkey, or uses one. */
  readonly kind: 'create' | 'get'
  /** Path that the form is sent to. */
  readonly action: string
  /** Options for the browser, or the path that answers with them when they are needed. */
  readonly options?: object
  readonly from?: string
  /** Name of the field with the browser's answer. */
  readonly field?: string
  /** Further fields. */
  readonly fields: Value
  readonly button: string
  readonly main?: boolean
}

/**
 * A form that is sent with the browser's answer about a passkey. It is hidden until its script finds that the browser has passkeys and that
 * the page has the origin of PUBLIC_URL.
 */
export function passkeyForm(
  { config, icon, language }: Pick<Call, 'config' | 'icon' | 'language'>,
  { kind, action, options, from = '', field = 'passkey', fields, button, main = false }: PasskeyForm,
): Html {
  const { failed } = passkeyWords(language)
  const json = options === undefined ? '' : JSON.stringify(options)
  return html`<form class="stack s" method="post" action="${action}" data-passkey="${kind}" data-options="${json}" data-from="${from}"
    data-origin="${new URL(config.publicUrl).origin}" data-failed="${failed}" hidden>
<input type="hidden" name="${field}" value="" data-answer>${fields}<p class="oops" role="alert" hidden></p>
<div class="row"><button class="btn${kind === 'get' && ' wide'}${main && ' main'}" type="submit">${icon('passkey')}${button}</button></div></form>`
}

/** The browser's answer in a form, unchanged; undefined if it is absent or not JSON. */
export function passkeyAnswer(form: Form, name = 'passkey'): unknown {
  const text = passwordField(form, name)
  if (text === '' || text.length > MAX_ANSWER) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
