import { catalogue } from '../../frame/words.ts'

/** Notifications of deliveries by mail (RFC 3461). */
export const notificationWords = catalogue({
  en: {
    to: 'Notifications by mail',
    never: 'No notifications.',
    of: (what: string) => `Notifications: ${what}.`,
    words: { success: 'delivery', failure: 'failure', delay: 'delay' },
    originalRecipient: 'Original recipient',
  },
  de: {
    to: 'Benachrichtigungen per Mail',
    never: 'Keine Benachrichtigungen.',
    of: (what: string) => `Benachrichtigungen: ${what}.`,
    words: { success: 'Zustellung', failure: 'Fehlschlag', delay: 'Verzögerung' },
    originalRecipient: 'Ursprünglicher Empfänger',
  },
})
