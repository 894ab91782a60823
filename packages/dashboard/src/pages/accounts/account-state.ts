import type { AccountFigures } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { UserCall } from '../../frame/call.ts'
import { accountsWords } from './accounts-words.ts'

/** Undefined for an account that is used. */
export function stateMark({ icon, language }: UserCall, { state, closedAt }: AccountFigures): Html | undefined {
  const words = accountsWords(language)
  const text = closedAt ? words.closed : state === 'suspended' ? words.suspended : undefined
  return text === undefined
    ? undefined
    : html`<span class="state idle">${icon('lock', 'idle')}<span>${text}</span></span>`
}
