import { catalogue } from '../../../frame/words.ts'

/** Sentences that tell a sender what a delivery waits for; the names are those of WAITING_REASONS and of the rules of holds. */
export const waitingWords = catalogue({
  en: {
    scheduled: (time: string) => `It is scheduled for ${time}.`,
    batch: (name: string) =>
      `Its batch ${name} is paused. It is sent after the batch is resumed, not before its scheduled time.`,
    provider: (name: string) => `the provider ${name}`,
    hosts: (name: string) => `the mail servers ${name}`,
    smartHost: (name: string) => `the smart host ${name}`,
    fromSource: (source: string) => ` from the source address ${source}`,
    pausedByOperator: (where: string, until: string) => `The operator has paused mail to ${where} until ${until}.`,
    pausedAfterRefusal: (where: string, until: string) =>
      `${where} refused mail, so mail to it is paused until ${until}.`,
    pausedAsAsked: (where: string, until: string) =>
      `${where} wants less mail, so mail to it is paused until ${until}.`,
    ofAccount: 'This concerns the mail of this account only.',
    probed: 'From time to time, one delivery is tried.',
    reply: (reply: string) => `The reply was “${reply}”.`,
    rate: (where: string) => `The rate that ${where} allows is used up.`,
    connections: (where: string) => `All connections that ${where} allows are in use.`,
    ahead: (count: string) => `${count} deliveries are ahead of it.`,
    oneAhead: 'One delivery is ahead of it.',
    noneAhead: 'It is the next one.',
    atLeast: (count: string) => `At least ${count} deliveries are ahead of it.`,
    warmUp: (source: string, where: string) =>
      `The source address ${source} is new and has sent what it may to ${where} for now.`,
    sourcePaused: (source: string) => `The source address ${source} is paused, and no other one of its pool can send.`,
    noSource: (source: string) => `No running worker has the source address ${source}.`,
    onHold: 'The operator holds it until it is released.',
    recipientHeld:
      'The recipient got the same message more than twenty times within ten minutes. Mail of this account to it waits for an hour.',
    oneClickHeld:
      'Bulk mail without one-click unsubscription waits, because Gmail and Yahoo demand it. Send it again with an unsubscribe link.',
    domainHeld: (domain: string, lacks: string) =>
      `Bulk mail of ${domain} waits, because the domain lacks what large receivers demand: ${lacks}.`,
    holdEnded: 'It was held or slowed, and is sent again now.',
    closed: 'The account is closed, and will be deleted.',
    unknownRecipients: 'Mail of the account is held, because much of it went to addresses that do not exist.',
    suddenVolume: 'Mail of the account is slowed, because there is far more of it than usual.',
    bounces: 'Mail of the account is held back, because much of it bounced.',
    complaints: 'Mail of the account is held back, because recipients reported it as spam.',
    otherHold: 'The operator holds mail of this account.',
    untilReleased: 'It waits until that is released.',
    atRate: (rate: string) => `At most ${rate} messages of the account are sent per hour.`,
    fairShare: 'It is due. Workers share their capacity between the mail of all accounts.',
    noWorker: 'No delivery worker is running. It is tried as soon as one is.',
    setAside: (reason: string) => `It is set aside until the operator releases it: ${reason}.`,
    indeterminate:
      'The connection was lost after the message was sent, so the server may have it. It is tried again at the same server, to avoid a duplicate.',
    working: 'A worker is trying to deliver it.',
    awaiting: 'The message was sent, and the reply of the server is awaited.',
    died: 'The worker that was trying to deliver it stopped. Another one takes it over within a minute.',
    due: 'It is due, and tried next.',
    lacks: {
      dkim: 'a valid DKIM record',
      spf: 'SPF or a return path of its own',
      dmarc: 'a DMARC record',
      alignment: 'a signature of the domain in From',
    },
  },
  de: {
    scheduled: (time) => `Sie ist für ${time} geplant.`,
    batch: (name) =>
      `Ihr Stapel ${name} ist angehalten. Sie wird gesendet, wenn er fortgesetzt ist, nicht vor ihrer geplanten Zeit.`,
    provider: (name) => `der Anbieter ${name}`,
    hosts: (name) => `die Mailserver ${name}`,
    smartHost: (name) => `der Smarthost ${name}`,
    fromSource: (source) => ` (von der Quelladresse ${source})`,
    pausedByOperator: (where, until) => `Der Betreiber hat angehalten, was ${where} erhält, bis ${until}.`,
    pausedAfterRefusal: (where, until) => `Mail wurde abgelehnt; was ${where} erhält, ist bis ${until} angehalten.`,
    pausedAsAsked: (where, until) => `Weniger Mail wurde verlangt; was ${where} erhält, ist bis ${until} angehalten.`,
    ofAccount: 'Das betrifft nur die Nachrichten dieses Kontos.',
    probed: 'Ab und zu wird eine Zustellung versucht.',
    reply: (reply) => `Die Antwort war „${reply}“.`,
    rate: (where) => `Die Rate, die ${where} erlaubt, ist ausgeschöpft.`,
    connections: (where) => `Alle Verbindungen, die ${where} erlaubt, sind belegt.`,
    ahead: (count) => `${count} Zustellungen sind vor ihr.`,
    oneAhead: 'Eine Zustellung ist vor ihr.',
    noneAhead: 'Sie ist die nächste.',
    atLeast: (count) => `Mindestens ${count} Zustellungen sind vor ihr.`,
    warmUp: (source, where) =>
      `Die Quelladresse ${source} ist neu und hat vorerst gesendet, was ${where} von ihr erhalten darf.`,
    sourcePaused: (source) => `Die Quelladresse ${source} ist angehalten, und keine andere ihres Pools kann senden.`,
    noSource: (source) => `Kein laufender Prozess hat die Quelladresse ${source}.`,
    onHold: 'Der Betreiber hält sie zurück, bis er sie freigibt.',
    recipientHeld:
      'Der Empfänger erhielt dieselbe Nachricht über zwanzigmal in zehn Minuten. Nachrichten dieses Kontos an ihn warten eine Stunde.',
    oneClickHeld:
      'Massenmail ohne Abmeldung mit einem Klick wartet, weil Gmail und Yahoo sie verlangen. Senden Sie sie mit einem Abmeldelink erneut.',
    domainHeld: (domain, lacks) =>
      `Massenmail von ${domain} wartet, weil der Domain fehlt, was große Empfänger verlangen: ${lacks}.`,
    holdEnded: 'Sie war zurückgehalten oder verlangsamt und wird jetzt gesendet.',
    closed: 'Das Konto ist geschlossen und wird gelöscht.',
    unknownRecipients: 'Nachrichten des Kontos sind zurückgehalten, weil viele an Adressen gingen, die es nicht gibt.',
    suddenVolume: 'Nachrichten des Kontos sind verlangsamt, weil es weit mehr sind als sonst.',
    bounces: 'Nachrichten des Kontos sind zurückgehalten, weil viele unzustellbar waren.',
    complaints: 'Nachrichten des Kontos sind zurückgehalten, weil Empfänger sie als Spam gemeldet haben.',
    otherHold: 'Der Betreiber hält Nachrichten dieses Kontos zurück.',
    untilReleased: 'Sie wartet, bis das aufgehoben ist.',
    atRate: (rate) => `Höchstens ${rate} Nachrichten des Kontos werden je Stunde gesendet.`,
    fairShare: 'Sie ist fällig. Die Kapazität wird zwischen den Nachrichten aller Konten geteilt.',
    noWorker: 'Kein Zustellprozess läuft. Sobald einer läuft, wird es versucht.',
    setAside: (reason) => `Sie ist beiseitegelegt, bis der Betreiber sie freigibt: ${reason}.`,
    indeterminate:
      'Die Verbindung brach ab, nachdem die Nachricht gesendet war; der Server hat sie vielleicht. Sie wird demselben Server erneut angeboten.',
    working: 'Die Zustellung wird gerade versucht.',
    awaiting: 'Die Nachricht ist gesendet, und die Antwort des Servers steht aus.',
    died: 'Der Prozess, der sie zustellen wollte, ist beendet. Binnen einer Minute übernimmt ein anderer.',
    due: 'Sie ist fällig und wird als Nächstes versucht.',
    lacks: {
      dkim: 'ein gültiger DKIM-Eintrag',
      spf: 'SPF oder ein eigener Rückweg',
      dmarc: 'ein DMARC-Eintrag',
      alignment: 'eine Signatur der Domain in From',
    },
  },
})
