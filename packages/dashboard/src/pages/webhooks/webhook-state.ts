import type { Webhook } from '@postrider/core'
import { type Html, html, type IconName, type Tone } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { webhooksWords } from './webhooks-words.ts'

export type WebhookStateName = 'active' | 'failing' | 'paused' | 'disabled'

const SIGNS: Readonly<Record<WebhookStateName, readonly [IconName, Tone]>> = {
  active: ['s-delivered', 'good'],
  failing: ['s-deferred', 'wait'],
  paused: ['pause', 'idle'],
  disabled: ['s-bounced', 'bad'],
}

/** The state of a webhook. `disabled`: by the service, because its URL did not respond for days. */
export function stateOf({ enabled, disabledAt, failingSince }: Webhook): WebhookStateName {
  if (!enabled) return disabledAt ? 'disabled' : 'paused'
  return failingSince ? 'failing' : 'active'
}

export function webhookState({ icon, language }: AccountCall, webhook: Webhook): Html {
  const state = stateOf(webhook)
  const [sign, tone] = SIGNS[state]
  return html`<span class="state ${tone}">${icon(sign, tone)}<span>${webhooksWords(language).states[state]}</span></span>`
}

/** Its name; without one, the host of its URL. */
export function webhookName({ label, url }: Pick<Webhook, 'label' | 'url'>): string {
  return label || (URL.parse(url)?.host ?? url)
}
