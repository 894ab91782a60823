import { catalogue } from '../../frame/words.ts'

export const privacyWords = catalogue({
  en: {
    title: 'Data of recipients',
    lead: 'What is stored about a recipient is exported for them, or erased. Both are in the audit log, without the address.',
    erase: 'Erase',
    addresses: 'Addresses',
    addressesHint: 'One per line, at most 1,000.',
    eraseText:
      'Their data are removed from all stored messages, and waiting mail to them is cancelled. This cannot be undone. They stay unsubscribed.',
    export: 'Export',
    address: 'Address',
    exportHint: 'A JSON file with all deliveries, events and suppressions of this recipient.',
    requests: 'Erasure requests',
    none: 'No recipient was erased.',
    request: 'Request',
    requested: 'Requested',
    state: 'State',
    count: 'Addresses',
    changed: 'Changed',
    states: { queued: 'Queued', running: 'In work', done: 'Done' },
    waiting: (count: string) => `waits for ${count} ${count === '1' ? 'message' : 'messages'} to other recipients`,
    receipt: (deliveries: string, bodies: string) =>
      `${deliveries} ${deliveries === '1' ? 'delivery' : 'deliveries'}, ${bodies} ${bodies === '1' ? 'body' : 'bodies'}`,
  },
  de: {
    title: 'Daten von Empfängern',
    lead: 'Was über einen Empfänger gespeichert ist, wird für ihn ausgegeben oder gelöscht. Beides steht im Änderungsprotokoll, ohne die Adresse.',
    erase: 'Löschen',
    addresses: 'Adressen',
    addressesHint: 'Je Zeile eine, höchstens 1.000.',
    eraseText:
      'Ihre Daten verschwinden aus gespeicherten Nachrichten, Wartendes an sie wird abgesagt, und sie bleiben abgemeldet. Das ist endgültig.',
    export: 'Ausgeben',
    address: 'Adresse',
    exportHint: 'Eine JSON-Datei mit allen Zustellungen, Ereignissen und Sperrungen dieses Empfängers.',
    requests: 'Löschaufträge',
    none: 'Kein Empfänger wurde gelöscht.',
    request: 'Auftrag',
    requested: 'Verlangt',
    state: 'Zustand',
    count: 'Adressen',
    changed: 'Geändert',
    states: { queued: 'Wartet', running: 'In Arbeit', done: 'Erledigt' },
    waiting: (count) => `wartet auf ${count} ${count === '1' ? 'Nachricht' : 'Nachrichten'} an andere Empfänger`,
    receipt: (deliveries, bodies) =>
      `${deliveries} ${deliveries === '1' ? 'Zustellung' : 'Zustellungen'}, ${bodies} ${bodies === '1' ? 'Inhalt' : 'Inhalte'}`,
  },
})
