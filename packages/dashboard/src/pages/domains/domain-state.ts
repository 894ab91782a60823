import type { Domain } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { domainsWords } from './domains-words.ts'

/** Signs a state by shape and word. */
export function domainState({ icon, language }: AccountCall, { state, brokenSince }: Domain): Html {
  const { states } = domainsWords(language)
  if (brokenSince && state === 'active')
    return html`<span class="state bad">${icon('s-bounced', 'bad')}<span>${states.broken}</span></span>`
  const [sign, tone] = (
    {
      pending: ['s-missing', 'wait'],
      active: ['s-delivered', 'good'],
      inactive: ['s-bounced', 'bad'],
      rejected: ['ban', 'bad'],
    } as const
  )[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${states[state]}</span></span>`
}
