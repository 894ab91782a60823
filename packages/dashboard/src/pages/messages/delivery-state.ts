import type { DeliveryState } from '@postrider/core'
import { type Html, html, type IconName, type Tone } from '@postrider/ui'
import type { Call } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'

/** The sign and the colour of each state; the word stands with it. */
export const STATE_SIGNS: Readonly<Record<DeliveryState, readonly [IconName, Tone]>> = {
  scheduled: ['s-scheduled', 'idle'],
  queued: ['s-waiting', 'idle'],
  sending: ['s-sending', 'info'],
  deferred: ['s-deferred', 'wait'],
  delivered: ['s-delivered', 'good'],
  bounced: ['s-bounced', 'bad'],
  dropped: ['s-dropped', 'idle'],
  expired: ['s-expired', 'bad'],
}

export function deliveryState({ icon, language }: Pick<Call, 'icon' | 'language'>, state: DeliveryState): Html {
  const [sign, tone] = STATE_SIGNS[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${messagesWords(language).states[state]}</span></span>`
}
