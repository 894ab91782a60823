import type { ReplyMeaning } from '@postrider/core'
import type { Language } from '@postrider/ui'

/** The meaning of a refusal, and advice for its sender. */
type Meaning = readonly [what: string, advice: string]
type Meanings = Readonly<Record<ReplyMeaning, Meaning>>

const en: Meanings = {
  'bad-mailbox': [
    'The address does not exist.',
    'Correct it and send the message again to the corrected address, or ask the recipient for another one.',
  ],
  'bad-syntax': [
    'The server does not accept the form of the address.',
    'Look for a typing error, such as a blank or a dot too many.',
  ],
  'bad-domain': [
    'The domain of the address does not exist, or has no mail server.',
    'Look for a typing error behind the @.',
  ],
  moved: ['The recipient has another address now.', 'The reply may name it; send the message again to that one.'],
  'not-accepting': ['The domain accepts no mail at all.', 'Ask the recipient for another address.'],
  'mailbox-full': [
    'The mailbox is full.',
    'Send the message again in a few days, or reach the recipient in another way.',
  ],
  'mailbox-inactive': [
    'The mailbox is disabled or has not been used for long.',
    'If this persists, ask the recipient for another address.',
  ],
  filtered: ['A filter of the recipient rejected the message.', 'Only the recipient can allow your address.'],
  'members-only': ['Only certain senders may write to this address.', 'Ask the recipient to allow your address.'],
  'too-large': ['The message is larger than the server accepts.', 'Send it without attachments, and link to them.'],
  virus: [
    'The server took the message for malware.',
    'Look through its attachments and links before it is sent again.',
  ],
  attachment: ['The server does not accept an attachment of this kind.', 'Link to the file instead.'],
  'sender-refused': [
    'The server does not accept the sender of the message.',
    'Look at the records of the sending domain on its page.',
  ],
  policy: ['The server rejected the message by its own rules.', 'Its reply may say which; its operator can say more.'],
  'block-list': [
    'The sending server is on a block list.',
    'Its operator must have it removed there. Messages to other providers may pass.',
  ],
  'listed-link': [
    'A link in the message is on a block list.',
    'Look through its links, also those of shorteners, and remove the one.',
  ],
  'reputation-domain': [
    'The provider trusts the sending domain too little.',
    'Send less, and only to people who expect it, until that improves.',
  ],
  'reputation-address': [
    'The provider trusts the sending server too little.',
    'Its operator can ask the provider. Send only to people who expect your mail.',
  ],
  'spam-content': [
    'The server took the message for spam because of what it says.',
    'Change its wording and links, then send it again.',
  ],
  spam: [
    'The server took the message for spam.',
    'Send only to people who expect it, and look at the checks of this message.',
  ],
  spf: [
    'SPF does not allow this server to send for the domain.',
    'Correct the SPF record; the page of the domain shows it.',
  ],
  dkim: [
    'The DKIM signature is missing or not valid for the server.',
    'Correct the DKIM record; the page of the domain shows it.',
  ],
  dmarc: [
    'The message does not pass DMARC.',
    'SPF or DKIM must pass for the domain in From; the page of the domain shows the records.',
  ],
  'reverse-name': [
    'The sending server has no valid reverse name.',
    'Its operator must correct the PTR record of its address.',
  ],
  authentication: [
    'The server could not verify who sent the message.',
    'Look at the records of the sending domain on its page.',
  ],
  greylisted: [
    'The server asks every new sender to try again a little later.',
    'Nothing is to be done; the next attempt usually passes.',
  ],
  'recipient-rate': [
    'The mailbox gets too much mail at the moment.',
    'Nothing is to be done, unless you write to it very often.',
  ],
  'too-many-recipients': [
    'The server does not accept that many recipients at once.',
    'Nothing is to be done; the others follow.',
  ],
  'too-many-connections': [
    'The server does not accept more connections at the moment.',
    'Nothing is to be done; fewer are opened.',
  ],
  rate: [
    'The provider accepts less mail than is sent to it.',
    'Mail to it is slowed. Send large amounts over several hours.',
  ],
  relay: [
    'The server is not responsible for the domain.',
    'The MX records of the recipient’s domain are wrong; only its owner can correct them.',
  ],
  loop: [
    'The message goes round in a loop at the recipient.',
    'A forwarding is wrong there; tell the recipient in another way.',
  ],
  'unicode-address': ['The server does not accept addresses with such letters.', 'Use an address in ASCII.'],
  'not-conformant': [
    'The server rejects a form of the message that it does not accept.',
    'Look at its header and source for what the reply names.',
  ],
  protocol: [
    'The server did not understand a part of the conversation.',
    'If it persists, its reply is for the operator of this service.',
  ],
  'tls-missing': [
    'The server offers no encryption, which is demanded here.',
    'Lower the demand for this domain, or ask its owner to offer TLS.',
  ],
  'tls-certificate': [
    'The certificate of the server is not valid, and a valid one is demanded.',
    'Lower the demand for this domain, or tell its owner.',
  ],
  dns: [
    'The mail servers of the domain could not be found at the moment.',
    'If this persists, look for a typing error behind the @.',
  ],
  unreachable: ['The server could not be reached.', 'Nothing is to be done, unless it persists for days.'],
  network: ['The connection to the server failed.', 'Nothing is to be done, unless it persists for days.'],
  expired: ['The message waited too long at another server.', 'Send it again later.'],
  storage: ['The server has no space for mail.', 'Nothing is to be done, unless it persists for days.'],
  system: ['The server has a fault of its own.', 'Nothing is to be done, unless it persists for days.'],
  other: ['The server gave a reason that is not known here.', 'Its reply is all that there is.'],
}

const de: Meanings = {
  'bad-mailbox': [
    'Die Adresse gibt es nicht.',
    'Berichtigen Sie sie und senden Sie die Nachricht erneut, oder erfragen Sie eine andere.',
  ],
  'bad-syntax': [
    'Der Server nimmt die Form der Adresse nicht an.',
    'Suchen Sie einen Tippfehler, etwa ein Leerzeichen oder einen Punkt zu viel.',
  ],
  'bad-domain': [
    'Die Domain der Adresse gibt es nicht, oder sie hat keinen Mailserver.',
    'Suchen Sie einen Tippfehler hinter dem @.',
  ],
  moved: [
    'Der Empfänger hat jetzt eine andere Adresse.',
    'Vielleicht nennt die Antwort sie; senden Sie die Nachricht an diese.',
  ],
  'not-accepting': ['Die Domain nimmt gar keine Mail an.', 'Erfragen Sie eine andere Adresse.'],
  'mailbox-full': [
    'Das Postfach ist voll.',
    'Senden Sie die Nachricht in einigen Tagen erneut, oder wählen Sie einen anderen Weg.',
  ],
  'mailbox-inactive': [
    'Das Postfach ist abgeschaltet oder lange unbenutzt.',
    'Bleibt es dabei, erfragen Sie eine andere Adresse.',
  ],
  filtered: ['Ein Filter des Empfängers hat die Nachricht abgelehnt.', 'Nur der Empfänger kann Ihre Adresse zulassen.'],
  'members-only': [
    'An diese Adresse dürfen nur bestimmte Absender schreiben.',
    'Bitten Sie den Empfänger, Ihre Adresse zuzulassen.',
  ],
  'too-large': [
    'Die Nachricht ist größer, als der Server annimmt.',
    'Senden Sie sie ohne Anhänge, und verlinken Sie diese.',
  ],
  virus: [
    'Der Server hielt die Nachricht für Schadsoftware.',
    'Prüfen Sie Anhänge und Links, bevor sie erneut gesendet wird.',
  ],
  attachment: ['Der Server nimmt einen Anhang dieser Art nicht an.', 'Verlinken Sie die Datei stattdessen.'],
  'sender-refused': [
    'Der Server nimmt den Absender der Nachricht nicht an.',
    'Prüfen Sie die Einträge der Absenderdomain auf ihrer Seite.',
  ],
  policy: [
    'Der Server hat die Nachricht nach eigenen Regeln abgelehnt.',
    'Vielleicht sagt seine Antwort, nach welchen; mehr weiß sein Betreiber.',
  ],
  'block-list': [
    'Der sendende Server steht auf einer Sperrliste.',
    'Sein Betreiber muss ihn dort austragen lassen. Anderswo kommt Ihre Mail womöglich an.',
  ],
  'listed-link': [
    'Ein Link der Nachricht steht auf einer Sperrliste.',
    'Prüfen Sie alle Links, auch Kurzlinks, und entfernen Sie diesen.',
  ],
  'reputation-domain': [
    'Der Anbieter traut der Absenderdomain zu wenig.',
    'Senden Sie weniger und nur an Menschen, die es erwarten, bis sich das bessert.',
  ],
  'reputation-address': [
    'Der Anbieter traut dem sendenden Server zu wenig.',
    'Sein Betreiber kann den Anbieter fragen. Senden Sie nur, was erwartet wird.',
  ],
  'spam-content': [
    'Der Server hielt die Nachricht wegen ihres Inhalts für Spam.',
    'Ändern Sie Text und Links, und senden Sie sie dann erneut.',
  ],
  spam: [
    'Der Server hielt die Nachricht für Spam.',
    'Senden Sie nur an Menschen, die es erwarten, und sehen Sie die Prüfungen dieser Nachricht an.',
  ],
  spf: [
    'SPF erlaubt diesem Server nicht, für die Domain zu senden.',
    'Berichtigen Sie den SPF-Eintrag; die Seite der Domain zeigt ihn.',
  ],
  dkim: [
    'Die DKIM-Signatur fehlt oder ist für den Server ungültig.',
    'Berichtigen Sie den DKIM-Eintrag; die Seite der Domain zeigt ihn.',
  ],
  dmarc: [
    'Die Nachricht besteht DMARC nicht.',
    'SPF oder DKIM muss für die Domain in From bestehen; die Seite der Domain zeigt die Einträge.',
  ],
  'reverse-name': [
    'Der sendende Server hat keinen gültigen umgekehrten Namen.',
    'Sein Betreiber muss den PTR-Eintrag der Adresse berichtigen.',
  ],
  authentication: [
    'Der Server konnte nicht prüfen, wer die Nachricht gesendet hat.',
    'Prüfen Sie die Einträge der Absenderdomain auf ihrer Seite.',
  ],
  greylisted: [
    'Der Server bittet jeden neuen Absender, es etwas später erneut zu versuchen.',
    'Es ist nichts zu tun; der nächste Versuch gelingt meist.',
  ],
  'recipient-rate': [
    'Das Postfach erhält gerade zu viel Mail.',
    'Es ist nichts zu tun, außer Sie schreiben ihm sehr oft.',
  ],
  'too-many-recipients': [
    'Der Server nimmt nicht so viele Empfänger auf einmal an.',
    'Es ist nichts zu tun; die übrigen folgen.',
  ],
  'too-many-connections': [
    'Der Server nimmt gerade nicht mehr Verbindungen an.',
    'Es ist nichts zu tun; es werden weniger aufgebaut.',
  ],
  rate: [
    'Der Anbieter nimmt weniger Mail an, als ihm gesendet wird.',
    'Mail an ihn wird verlangsamt. Verteilen Sie große Mengen über Stunden.',
  ],
  relay: [
    'Der Server ist für die Domain nicht zuständig.',
    'Die MX-Einträge der Empfängerdomain sind falsch; nur ihr Inhaber kann sie berichtigen.',
  ],
  loop: [
    'Die Nachricht läuft beim Empfänger im Kreis.',
    'Dort ist eine Weiterleitung falsch; sagen Sie es dem Empfänger auf anderem Weg.',
  ],
  'unicode-address': [
    'Der Server nimmt Adressen mit solchen Buchstaben nicht an.',
    'Benutzen Sie eine Adresse in ASCII.',
  ],
  'not-conformant': [
    'Der Server nimmt die Form der Nachricht nicht an.',
    'Suchen Sie in Kopf und Quelltext, was die Antwort nennt.',
  ],
  protocol: [
    'Der Server verstand einen Teil des Gesprächs nicht.',
    'Bleibt es dabei, ist seine Antwort etwas für den Betreiber dieses Dienstes.',
  ],
  'tls-missing': [
    'Der Server bietet keine Verschlüsselung, die hier verlangt ist.',
    'Senken Sie die Forderung für diese Domain, oder bitten Sie ihren Inhaber um TLS.',
  ],
  'tls-certificate': [
    'Das Zertifikat des Servers ist ungültig, und ein gültiges ist verlangt.',
    'Senken Sie die Forderung für diese Domain, oder sagen Sie es ihrem Inhaber.',
  ],
  dns: [
    'Die Mailserver der Domain ließen sich gerade nicht finden.',
    'Bleibt es dabei, suchen Sie einen Tippfehler hinter dem @.',
  ],
  unreachable: ['Der Server war nicht zu erreichen.', 'Es ist nichts zu tun, außer es bleibt tagelang dabei.'],
  network: ['Die Verbindung zum Server brach ab.', 'Es ist nichts zu tun, außer es bleibt tagelang dabei.'],
  expired: ['Die Nachricht wartete zu lange bei einem anderen Server.', 'Senden Sie sie später erneut.'],
  storage: ['Der Server hat keinen Platz für Mail.', 'Es ist nichts zu tun, außer es bleibt tagelang dabei.'],
  system: ['Der Server hat selbst eine Störung.', 'Es ist nichts zu tun, außer es bleibt tagelang dabei.'],
  other: ['Der Server nannte einen Grund, der hier unbekannt ist.', 'Mehr als seine Antwort gibt es nicht.'],
}

export function meaningWords(language: Language): Meanings {
  return language === 'de' ? de : en
}
