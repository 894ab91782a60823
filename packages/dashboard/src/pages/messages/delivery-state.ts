import type { DeliveryState } from '@postrider/core'
import { type Html, html, type IconName, type Tone } from '@postrider/ui'
import type { Call } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'

/** The sign and the colour of each state; the word stands with it. */
const STATE_SIGNS: Readonly<Record<DeliveryState, readonly [IconName, Tone]>> = {
  scheduled: ['s-scheduled', 'idle'],
  queued: ['s-waiting', 'idle'],
  sending: ['s-sending', 'info'],
  deferred: ['s-deferred', 'wait'],
  delivered: ['s-delivered', 'good'],
  bounced: ['s-bounced', 'bad'],
  dropped: ['s-dropped', 'idle'],
  expired: ['s-expired', 'bad'],
}

interface Shown {
  readonly state: string
  readonly bouncedAt: Date | null
}

/** The sign, the colour and the word of a delivery: one that a report said to have bounced after a server had accepted it is not shown as delivered. */
export function shownState(
  { language }: Pick<Call, 'language'>,
  { state, bouncedAt }: Shown,
): readonly [IconName, Tone, string] {
  const words = messagesWords(language)
  const known = state as DeliveryState
  return bouncedAt === null ? [...STATE_SIGNS[known], words.states[known]] : [...STATE_SIGNS.bounced, words.bouncedLate]
}

export function deliveryState(call: Pick<Call, 'icon' | 'language'>, delivery: Shown): Html {
  const [sign, tone, word] = shownState(call, delivery)
  return html`<span class="state ${tone}">${call.icon(sign, tone)}<span>${word}</span></span>`
}
