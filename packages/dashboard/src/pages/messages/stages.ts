import type { DeliveryDetails } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'

/** A step of the SMTP conversation as it is stored (attempts.conversation). */
export interface Step {
  readonly step: string
  readonly ms: number
  readonly code?: number | null
  readonly enhanced?: string | null
  readonly text?: string | null
}

/** Steps that are shown; a conversation has about ten. */
const MAX_STEPS = 40

/** The steps of the attempt's conversation. Stored data of an older version may have another shape. */
export function stepsOf(conversation: unknown): readonly Step[] {
  if (!Array.isArray(conversation)) return []
  return conversation
    .slice(0, MAX_STEPS)
    .filter((one): one is Step => typeof one?.step === 'string' && typeof one?.ms === 'number')
}

/** The latest attempt of a delivery with the milliseconds of each step. */
export function stages({ format, language }: AccountCall, delivery: DeliveryDetails | undefined): Value {
  const attempt = delivery?.attempts.at(-1)
  if (!delivery || !attempt) return null
  const words = messagesWords(language)
  const steps = stepsOf(attempt.conversation)
  const total = Math.max(
    1,
    steps.reduce((sum, { ms }) => sum + ms, 0),
  )
  let at = 0
  const rows = steps.map(({ step, ms }): Html => {
    const from = at
    at += ms
    return html`<tr><th scope="row">${step}</th><td class="hb">
      <svg class="hbar" viewBox="0 0 ${total} 16" preserveAspectRatio="none" aria-hidden="true"><path class="c grid" d="M0 8h${total}"/>
      <rect class="f1" x="${from}" y="4" width="${Math.max(ms, total / 200)}" height="8" rx="1"/></svg></td><td class="n">${format.duration(ms)}</td></tr>`
  })
  const tls = attempt.tls
    ? words.tls(attempt.tls, attempt.tlsVerified ? words.verified : words.notVerified)
    : words.plain
  return html`<section class="box"><header><h2>${words.stages}</h2><p class="push">${format.duration(attempt.milliseconds)}</p></header>
    <div class="pad stack s"><p class="dim any">${foreign(delivery.recipient)}: ${words.attempt(attempt.attempt)}, ${attempt.host ?? ''}${
      attempt.address !== null && html` <span class="faint">[${attempt.address}]</span>`
    }, ${tls}</p>${rows.length > 0 && html`<table class="fall"><tbody>${rows}</tbody></table>`}</div></section>`
}
