import { LIMITS } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import type { AccountCall } from './call.ts'
import { catalogue } from './words.ts'

const trialWords = catalogue({
  en: {
    until: (count: number, to: string, from: string) =>
      `Until a domain is active, ${count} messages per day to ${to}, from ${from}.`,
    impossible: 'Add a domain first: until one is active, this account cannot send.',
  },
  de: {
    until: (count, to, from) => `Bis eine Domain aktiv ist: ${count} Nachrichten am Tag an ${to}, von ${from}.`,
    impossible: 'Fügen Sie zuerst eine Domain hinzu: Bis eine aktiv ist, kann dieses Konto nichts senden.',
  },
})

/** The only mail of an account on trial. */
export interface Trial {
  /** The only recipient. */
  readonly to: string
  /** The only sender; undefined if the operator's domain cannot be used. */
  readonly from: string | undefined
}

/** Returns undefined unless the account is on trial: made by sign-up, and without an active domain. */
export async function trialOf({ core, visitor, account }: AccountCall): Promise<Trial | undefined> {
  const principal = await core.people.principal(visitor, account.id)
  const to = principal?.account.trialAddress
  return to ? { to, from: (await core.domains.trialSender())?.address } : undefined
}

/** One sentence about the limits of an account on trial. */
export function trialNote({ icon, language }: AccountCall, trial: Trial | undefined): Html | undefined {
  if (!trial) return undefined
  const words = trialWords(language)
  const text = trial.from ? words.until(LIMITS.trialRecipients, trial.to, trial.from) : words.impossible
  return html`<div class="note wait" role="note">${icon('info', 'wait')}<p>${text}</p></div>`
}
