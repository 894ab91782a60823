import { type Core, type DeliveryDetails, type MessageDetails, NO_CONTENT } from '@postrider/core'
import { foreign, html, inputField, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { ask } from '../../frame/parts.ts'
import { actionWords } from './action-words.ts'

/** An entry that keeps mail from a recipient. */
export type Entry = Awaited<ReturnType<Core['suppressions']['holding']>>[number]

export const WAITING: ReadonlySet<string> = new Set(['scheduled', 'queued', 'deferred'])

/** The entries that keep mail from the chosen recipient, if the visitor may see them. */
export async function entriesFor(
  { account, core, may }: AccountCall,
  { settings }: MessageDetails,
  chosen: DeliveryDetails | undefined,
): Promise<readonly Entry[]> {
  if (!chosen || !may('suppressions.read') || chosen.reason === 'invalid' || chosen.reason === 'forgotten') return []
  return core.suppressions.holding(account.id, chosen.recipient, groupOf(settings))
}

/** The unsubscribe group of a message. */
export function groupOf(settings: unknown): number | undefined {
  const group = (settings as { group?: unknown } | null)?.group
  return typeof group === 'number' ? group : undefined
}

/** The actions on the copy of the chosen recipient. */
export function recipientActions(
  call: AccountCall,
  { id, isBodyStored, settings }: MessageDetails,
  one: DeliveryDetails,
  entries: readonly Entry[],
): Value {
  const { language, may, path } = call
  const words = actionWords(language)
  const at = (action: string) => path(`messages/${id}/${action}`)
  const number = html`<input type="hidden" name="recipient" value="${one.recipientNo}">`
  const removable = entries.some(({ global, scope }) => !global && scope !== 'domain')
  const isAddress = one.reason !== 'invalid' && one.reason !== 'forgotten'
  const buttons = [
    may('resend') &&
      isBodyStored &&
      one.reason !== 'forgotten' &&
      !(one.state === 'dropped' && NO_CONTENT.has(one.reason ?? '')) &&
      ask({
        language: call.language,
        id: 'again-one',
        isCalm: true,
        button: words.again,
        title: words.againTitle,
        text: words.againText,
        action: at('resend'),
        fields: html`${number}${inputField({ name: 'to', id: 'again-to', label: words.address, value: one.recipient, required: true, maxlength: 320 })}`,
      }),
    may('send') &&
      WAITING.has(one.state) &&
      ask({
        language: call.language,
        id: 'cancel-one',
        button: words.cancel,
        title: words.cancelTitle,
        text: words.cancelText,
        action: at('cancel'),
        fields: number,
      }),
    may('suppressions') &&
      isAddress &&
      entries.length === 0 &&
      ask({
        language: call.language,
        id: 'suppress-one',
        button: words.suppress,
        title: words.suppressTitle(one.recipient),
        text: words.suppressText,
        action: at('suppress'),
        fields: number,
      }),
    may('suppressions') &&
      removable &&
      ask({
        language: call.language,
        id: 'unsuppress-one',
        isCalm: true,
        button: words.unsuppress,
        title: words.unsuppressTitle(one.recipient),
        text: words.unsuppressText,
        action: at('unsuppress'),
        fields: html`${number}<input type="hidden" name="group" value="${groupOf(settings) ?? 0}">`,
      }),
  ].filter(Boolean)
  const [entry] = entries
  return [
    entry &&
      html`<p class="hint">${words.suppressedFor[entry.reason]}${entry.scope === 'domain' && html` ${words.wholeDomain} ${foreign(entry.value)}`}</p>`,
    buttons.length > 0 &&
      html`<div class="row" role="group" aria-label="${words.actions(one.recipient)}">${buttons}</div>`,
  ]
}

/** The button that gives scheduled mail another time. */
export function rescheduleButton(call: AccountCall, { id, scheduledAt }: MessageDetails, zone: string): Value {
  const { language, path } = call
  const words = actionWords(language)
  return ask({
    language: call.language,
    id: 'reschedule',
    isCalm: true,
    button: words.reschedule,
    title: words.rescheduleTitle,
    text: words.rescheduleText,
    action: path(`messages/${id}/reschedule`),
    fields: inputField({
      name: 'schedule',
      label: words.time,
      value: scheduledAt ? localTime(scheduledAt, zone) : '',
      hint: words.timeHint(zone),
      required: true,
      maxlength: 100,
    }),
  })
}

/** The time on the clocks of a zone: `2026-12-24T09:00`. */
function localTime(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .format(at)
    .replace(' ', 'T')
}
