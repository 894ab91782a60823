import { catalogue } from '../../frame/words.ts'

/** Actions on a message, or with the copy of one recipient. */
export const actionWords = catalogue({
  en: {
    actions: (recipient: string) => `For ${recipient}`,
    again: 'Send again',
    againTitle: 'Send this copy again?',
    againText:
      'A new message with the same content, by the rules that apply now. If the address was wrong, correct it here; the copy then has it in To.',
    address: 'Address',
    cancel: 'Cancel delivery',
    cancelTitle: 'Cancel this delivery?',
    cancelText:
      'It is dropped if it still waits. If it is being sent at this moment, it is not stopped. Credits are not returned.',
    suppress: 'Suppress',
    suppressTitle: (recipient: string) => `Send nothing more to ${recipient}?`,
    suppressText: 'Mail of this account to the address is accepted and dropped until the entry is removed.',
    unsuppress: 'Let it receive mail again',
    unsuppressTitle: (recipient: string) => `Remove the suppression of ${recipient}?`,
    unsuppressText: 'It gets mail again, at once. If the reason persists, it is suppressed again.',
    suppressedFor: {
      unsubscribe: 'Suppressed: the recipient unsubscribed.',
      hardbounce: 'Suppressed after a bounce.',
      abuse: 'Suppressed: the recipient complained.',
      manual: 'Suppressed by hand.',
      global: 'Suppressed by the operator, who alone can remove it.',
    },
    wholeDomain: 'The entry is for the whole domain.',
    reschedule: 'Reschedule',
    rescheduleTitle: 'Send it at another time?',
    rescheduleText: 'For all deliveries that are scheduled and not yet due. A time that has passed means now.',
    time: 'Time',
    timeHint: (zone: string) => `In the time zone ${zone}. For another one: 2026-12-24T09:00[Asia/Tokyo].`,
    copyOf: 'Copy of',
    copies: 'Sent again as',
  },
  de: {
    actions: (recipient) => `Für ${recipient}`,
    again: 'Erneut senden',
    againTitle: 'Diese Kopie erneut senden?',
    againText:
      'Eine neue Nachricht gleichen Inhalts, nach den jetzt geltenden Regeln. Eine falsche Adresse berichtigen Sie hier; die Kopie hat sie dann unter An.',
    address: 'Adresse',
    cancel: 'Zustellung abbrechen',
    cancelTitle: 'Diese Zustellung abbrechen?',
    cancelText:
      'Sie wird verworfen, wenn sie noch wartet. Wird sie gerade gesendet, wird sie nicht angehalten. Guthaben wird nicht erstattet.',
    suppress: 'Sperren',
    suppressTitle: (recipient) => `Nichts mehr an ${recipient} senden?`,
    suppressText:
      'Nachrichten dieses Kontos an die Adresse werden angenommen und verworfen, bis der Eintrag entfernt ist.',
    unsuppress: 'Wieder Post empfangen lassen',
    unsuppressTitle: (recipient) => `Die Sperre von ${recipient} aufheben?`,
    unsuppressText: 'Die Adresse erhält sofort wieder Nachrichten. Besteht der Grund fort, wird sie erneut gesperrt.',
    suppressedFor: {
      unsubscribe: 'Gesperrt: Der Empfänger hat sich abgemeldet.',
      hardbounce: 'Gesperrt nach Unzustellbarkeit.',
      abuse: 'Gesperrt: Der Empfänger hat sich beschwert.',
      manual: 'Von Hand gesperrt.',
      global: 'Vom Betreiber gesperrt; nur er kann das aufheben.',
    },
    wholeDomain: 'Der Eintrag gilt für die ganze Domain.',
    reschedule: 'Verlegen',
    rescheduleTitle: 'Zu einer anderen Zeit senden?',
    rescheduleText: 'Für alle Zustellungen, die geplant und noch nicht fällig sind. Eine vergangene Zeit heißt: jetzt.',
    time: 'Zeit',
    timeHint: (zone) => `In der Zeitzone ${zone}. Andere: 2026-12-24T09:00[Asia/Tokyo].`,
    copyOf: 'Kopie von',
    copies: 'Erneut gesendet als',
  },
})
