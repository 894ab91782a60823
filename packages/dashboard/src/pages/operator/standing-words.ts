import { catalogue } from '../../frame/words.ts'

/** Texts about the standing of accounts, on pages of the installation. */
export const standingWords = catalogue({
  en: {
    levels: { good: 'Good', warned: 'Warned', slowed: 'Slowed', held: 'Held' },
    rules: {
      bounces: 'Many bounces',
      'unknown-recipients': 'Many unknown recipients within an hour',
      complaints: 'Many complaints',
      'sudden-volume': 'Much more mail than in any hour of the month before',
      'repeated-recipient': 'The same message again and again to one recipient',
      operator: 'By an operator',
    },
    figures: {
      bounces: (count: string) => `${count} hard bounces`,
      outcomes: (count: string) => `${count} outcomes`,
      share: (share: string) => share,
      complained: (count: string) => `${count} complaints`,
      delivered: (count: string) => `${count} deliveries to providers that report complaints`,
      accepted: (count: string) => `${count} messages within an hour`,
      busiestHour: (count: string) => `${count} in the busiest hour before`,
      recipients: (count: string) => `${count} recipients`,
      messages: (count: string) => `${count} equal messages`,
      minutes: (count: string) => `within ${count} minutes`,
    },
    rate: (count: string) => `to ${count} messages per hour`,
    classes: (names: string) => `class ${names}`,
  },
  de: {
    levels: { good: 'Gut', warned: 'Gewarnt', slowed: 'Gebremst', held: 'Zurückgehalten' },
    rules: {
      bounces: 'Viele Unzustellbare',
      'unknown-recipients': 'Viele unbekannte Empfänger binnen einer Stunde',
      complaints: 'Viele Beschwerden',
      'sudden-volume': 'Viel mehr Post als in jeder Stunde des Monats davor',
      'repeated-recipient': 'Dieselbe Nachricht immer wieder an einen Empfänger',
      operator: 'Durch den Betrieb',
    },
    figures: {
      bounces: (count) => `${count} Unzustellbare`,
      outcomes: (count) => `${count} Ergebnisse`,
      share: (share) => share,
      complained: (count) => `${count} Beschwerden`,
      delivered: (count) => `${count} Zustellungen an Provider, die Beschwerden melden`,
      accepted: (count) => `${count} Nachrichten binnen einer Stunde`,
      busiestHour: (count) => `${count} in der stärksten Stunde davor`,
      recipients: (count) => `${count} Empfänger`,
      messages: (count) => `${count} gleiche Nachrichten`,
      minutes: (count) => `binnen ${count} Minuten`,
    },
    rate: (count) => `auf ${count} Nachrichten je Stunde`,
    classes: (names) => `Klasse ${names}`,
  },
})
