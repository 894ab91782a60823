import type { DomainWithRecords } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { domainsWords } from './domains-words.ts'

/** Whether all records are found that a domain must have. */
export function hasRecords({ dns }: Pick<DomainWithRecords, 'dns'>): boolean {
  return dns.every(({ required, verified }) => verified || !required)
}

/** Signs a state by shape and word. A domain that the operator activated can be active without its records. */
export function domainState({ icon, language }: AccountCall, domain: DomainWithRecords): Html {
  const { states } = domainsWords(language)
  const { state, brokenSince } = domain
  if (brokenSince && state === 'active')
    return html`<span class="state bad">${icon('s-bounced', 'bad')}<span>${states.broken}</span></span>`
  if (state === 'active' && !hasRecords(domain))
    return html`<span class="state wait">${icon('s-missing', 'wait')}<span>${states.unproven}</span></span>`
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
