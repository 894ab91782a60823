import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { subaccountsWords } from './subaccounts-words.ts'

/** Whether the keys of a subaccount are accepted, as mark and word. */
export function subaccountState({ icon, language }: AccountCall, { disabled }: { readonly disabled: boolean }): Html {
  const words = subaccountsWords(language)
  return disabled
    ? html`<span class="state idle">${icon('lock', 'idle')}<span>${words.disabled}</span></span>`
    : html`<span class="state good">${icon('check', 'good')}<span>${words.active}</span></span>`
}
