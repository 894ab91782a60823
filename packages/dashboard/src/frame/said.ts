import { catalogue } from './words.ts'

/** Sentences that a page says once, after an action of the page before it. The URL has only the name, so no link can make a page say anything else. */
const said = catalogue({
  en: {
    saved: 'Saved.',
    activated: 'Active. Messages accepted from now on use this version.',
    revoked: 'The key is revoked. Every process rejects it within 5 seconds.',
    added: 'Added.',
    removed: 'Removed.',
    restored: 'It is suppressed again, for the same reason.',
    keyRestored: 'The key is valid again. Every process accepts it within 5 seconds.',
    sent: 'The test message is accepted.',
    sentAgain: 'The message is accepted once more. This is the new one.',
    checked: 'The DNS records were looked up.',
    cancelled: 'Cancelled.',
    rescheduled: 'It has the new time.',
    suppressed: 'Nothing more is sent to the address.',
    unsuppressed: 'The address receives mail again.',
    retried: 'It is tried again now.',
    invited: 'The invitation is sent.',
    joined: 'You are a member of this account.',
    ended: 'The session is ended. It has no effect from 5 seconds on.',
    othersEnded: 'Your other sessions are ended. They have no effect from 5 seconds on.',
    moved: 'All processes have the new time.',
    paused: 'Paused.',
    resumed: 'Resumed.',
    replayed: 'The events are sent again.',
    began: 'The job began. It works in the background.',
    closed: 'The account is closed. Every process refuses it within 5 seconds.',
    stopped: 'The job is stopped. What it has done stays.',
    exporting: 'The export is queued. Its file is listed here when it is done.',
  },
  de: {
    saved: 'Gespeichert.',
    activated: 'Aktiv. Nachrichten, die ab jetzt angenommen werden, benutzen diese Version.',
    revoked: 'Der Schlüssel ist widerrufen. Binnen 5 Sekunden lehnt ihn jeder Prozess ab.',
    added: 'Hinzugefügt.',
    removed: 'Entfernt.',
    restored: 'Wieder gesperrt, aus demselben Grund.',
    keyRestored: 'Der Schlüssel gilt wieder. Binnen 5 Sekunden nimmt ihn jeder Prozess an.',
    sent: 'Die Testnachricht ist angenommen.',
    sentAgain: 'Die Nachricht ist noch einmal angenommen. Dies ist die neue.',
    checked: 'Die DNS-Einträge wurden abgefragt.',
    cancelled: 'Abgebrochen.',
    rescheduled: 'Die neue Zeit gilt.',
    suppressed: 'An die Adresse wird nichts mehr gesendet.',
    unsuppressed: 'Die Adresse erhält wieder Nachrichten.',
    retried: 'Die Zustellung wird jetzt erneut versucht.',
    invited: 'Die Einladung ist verschickt.',
    joined: 'Sie gehören jetzt zu diesem Konto.',
    ended: 'Die Sitzung ist beendet und spätestens nach 5 Sekunden wirkungslos.',
    othersEnded: 'Ihre anderen Sitzungen sind beendet und spätestens nach 5 Sekunden wirkungslos.',
    moved: 'Alle Prozesse haben die neue Zeit.',
    paused: 'Angehalten.',
    resumed: 'Fortgesetzt.',
    replayed: 'Die Ereignisse werden erneut gesendet.',
    began: 'Der Auftrag hat begonnen. Er läuft im Hintergrund.',
    closed: 'Das Konto ist geschlossen. Binnen 5 Sekunden lehnt es jeder Prozess ab.',
    stopped: 'Der Auftrag ist angehalten. Was er getan hat, bleibt.',
    exporting: 'Der Export wartet. Seine Datei steht hier, sobald sie fertig ist.',
  },
})

/** Returns the sentence of this name; undefined for any other text. */
export function sentenceOf(language: Parameters<typeof said>[0], name: string): string | undefined {
  const sentences: Readonly<Record<string, string>> = said(language)
  return Object.hasOwn(sentences, name) ? sentences[name] : undefined
}
