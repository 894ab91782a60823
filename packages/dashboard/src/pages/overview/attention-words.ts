import { catalogue } from '../../frame/words.ts'

/** Texts about what needs attention. */
export const attentionWords = catalogue({
  en: {
    webhookDisabled: 'A webhook was disabled',
    webhookDisabledText: (since: string) =>
      `Nothing is sent to it since ${since}. Correct the server, then resume the webhook; no event is lost.`,
    webhookFailing: 'A webhook is failing',
    webhookFailingText: (since: string) => `No request has succeeded since ${since}. After three days it is disabled.`,
    keyExpires: 'An API key expires soon',
    keyExpiresText: (when: string) => `It is refused from ${when} on. Rotate it, or give it another expiry.`,
    colleague: 'A member of the account gets no mail from it',
    colleagueText: 'The address is suppressed. If that is not intended, remove it from the suppressions.',
    importEnded: 'An import has ended',
    importIncomplete: 'An import is incomplete',
    importText: (from: string, when: string) => `From ${from}, ${when}.`,
  },
  de: {
    webhookDisabled: 'Ein Webhook wurde abgeschaltet',
    webhookDisabledText: (since) =>
      `Seit ${since} wird nichts an ihn gesendet. Bringen Sie den Server in Ordnung und setzen Sie den Webhook fort; kein Ereignis geht verloren.`,
    webhookFailing: 'Ein Webhook ist gestört',
    webhookFailingText: (since) => `Seit ${since} gelang keine Anfrage. Nach drei Tagen wird er abgeschaltet.`,
    keyExpires: 'Ein API-Schlüssel läuft bald ab',
    keyExpiresText: (when) =>
      `Ab ${when} wird er abgelehnt. Erneuern Sie ihn, oder geben Sie ihm einen anderen Ablauf.`,
    colleague: 'Ein Mitglied des Kontos bekommt keine Post davon',
    colleagueText: 'Die Adresse ist gesperrt. Wenn das nicht gewollt ist, entfernen Sie sie aus den Sperren.',
    importEnded: 'Ein Import ist beendet',
    importIncomplete: 'Ein Import ist unvollständig',
    importText: (from, when) => `Von ${from}, ${when}.`,
  },
})
