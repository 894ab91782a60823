import type { Sourced } from './sourced.ts'

/** Replies about the recipient, which a rule about senders must not take. */
export const OF_RECIPIENTS: readonly Sourced[] = [
  {
    source:
      'German: sitepackage.de, web.de and T-Online; PHP Bounce Handler 7.3; github.com/sisimai/rb-sisimai/issues/366 of 2025-09-21',
    replies: [
      ['bad-mailbox', '550 Benutzer nicht bekannt/User unknown'],
      ['bad-mailbox', '550 Adressat unbekannt oder Mailbox deaktiviert'],
      [
        'mailbox-full',
        '550 Benutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.',
      ],
      ['mailbox-full', '550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.'],
      ['mailbox-full', '550 Benutzer hat das Speichervolumen ueberschritten.'],
      ['mailbox-full', '422 Quota limit exceeded (Speicherplatz des Kontos ueberschritten)'],
    ],
  },
  {
    source:
      'French: KumoMTA community/bounces.toml (isep.fr); PHP Bounce Handler 7.3; sisimai Rhost/FrancePTT.pm; smtp-field-manual 552.json',
    replies: [
      ['bad-mailbox', '550 Utilisateur inconnu'],
      ['bad-mailbox', '550 Utilisateur inconnu !'],
      ['bad-mailbox', '550 Destinataire inconnu ou boite aux lettres desactivee'],
      ['bad-mailbox', '550 5.5.0 Adresse d au moins un destinataire invalide. LPN007_416'],
      ['mailbox-full', '552 5.1.1 Boite du destinataire pleine. Recipient overquota. OFR_417 [417]'],
      ['mailbox-inactive', '550 Boite du destinataire archivee. Archived recipient. OFR_420 [420]'],
    ],
  },
  {
    source:
      'Spanish and Portuguese: github.com/sisimai/p5-sisimai/issues/66 (latinmail) of 2015-06-08; sisimai UserUnknown.pm; PHP Bounce Handler 7.3',
    replies: [
      ['bad-mailbox', '550 No existe dicha persona'],
      ['bad-mailbox', '550 No existe ese usuario aqui'],
      ['mailbox-full', '550 <lena@harbor.example>: Destinatario desconocido o mailbox lleno'],
      ['mailbox-inactive', '550 El usuario esta en estado: inactivo'],
      ['mailbox-inactive', '550 Esta casilla ha expirado por falta de uso'],
    ],
  },
  {
    source: 'Italian, Polish: PHP Bounce Handler 7.3; sisimai reason/userunknown.go',
    replies: [
      ['bad-mailbox', '550 destin. Sconosciuto'],
      ['bad-mailbox', '550 Destinatario sconosciuto o mailbox disatttivata'],
      ['bad-mailbox', '550 Destinatario errato'],
      ['bad-mailbox', '550 Indirizzo inesistente'],
      ['bad-mailbox', '550 nessun utente simile in questo indirizzo'],
      ['mailbox-inactive', "550 Questo indirizzo e' bloccato per inutilizzo"],
      ['bad-mailbox', '550 Nie ma takiego konta'],
      ['mailbox-inactive', '550 Podane konto jest zablokowane administracyjnie lub nieaktywne'],
    ],
  },
  {
    source: 'au: note.com/sendmagic/n/n875d8dcb6cb8; J:COM, note.com/sendmagic/n/n59a9f610bc0e; read on 2026-11-29',
    replies: [
      ['bad-mailbox', '550 <lena@ezweb.ne.jp>: User unknown'],
      ['bad-mailbox', '550 Invalid recipient: lena@jcom.home.ne.jp'],
    ],
  },
  {
    source: 'Czech: support.grhosting.cz/kb/a290',
    replies: [['mailbox-full', '552 5.1.1 5.2.2 sorry, final recipient mailbox is full (chkuser)']],
  },
  {
    source:
      'Unknown users of filters and providers: smtp-field-manual data/codes; KumoMTA bounces.toml; sisimai UserUnknown.pm and lhost-sendmail test data',
    replies: [
      ['bad-mailbox', '551 not our customer'],
      ['bad-mailbox', '550 Not our Customer'],
      ['bad-mailbox', '550 5.1.1 Not our Customer'],
      ['bad-mailbox', '450 5.5.0 <lena@harbor.example> unknown user'],
      ['bad-mailbox', '550 5.5.0 <lena@harbor.example>: unknown user'],
      ['bad-mailbox', '550 5.2.1 <lena@harbor.example>... Addressee unknown, relay=[192.0.2.1]'],
      ['bad-mailbox', '550 5.1.1 <lena@harbor.example> recipient mailbox unallocated'],
      ['bad-mailbox', '550 Message was not accepted -- invalid mailbox.'],
      [
        'bad-mailbox',
        '550 5.7.1 <lena@harbor.example>: Recipient address rejected: User email address is marked as invalid.',
      ],
      ['bad-mailbox', '550 5.7.1 No such user!'],
      ['bad-mailbox', '554 5.7.1 <lena@harbor.example>: Recipient address rejected: Invalid-Recipient.'],
      ['bad-mailbox', '554 5.7.1 <lena@harbor.example>: Recipient address rejected: Not in recipient list'],
      ['bad-mailbox', '550 Mailbox does not exist'],
      ['bad-mailbox', '553 <lena@harbor.example> address unknown'],
      ['bad-mailbox', '550 Address invalid'],
      ['bad-mailbox', '550 No such ID'],
      ['bad-mailbox', '550 recipient unrecognized'],
      ['bad-mailbox', '550 <lena@harbor.example> is not an active address at this host'],
      ['bad-mailbox', '550 There is no one at this address'],
      ['bad-mailbox', '550 5.1.1 unknown or illegal alias: lena@harbor.example'],
      ['bad-mailbox', '550 unknown or illegal alias: lena@harbor.example'],
      ['bad-mailbox', '550 sorry, your envelope recipient is in my badrcptto list (#5.7.1)'],
      ['bad-mailbox', '550 5.1.1 Account not found'],
      ['bad-mailbox', '550 Account not found'],
      ['bad-mailbox', "550 can't accept user... (#5.7.1)"],
      ['bad-mailbox', '550 Invalid recipient: <lena@harbor.example>'],
      ['bad-mailbox', '550 554 delivery error: dd lena@harbor.example is no longer valid. [-20]'],
    ],
  },
  {
    source:
      'Full and closed mailboxes: smtp-field-manual 552.json; KumoMTA bounces.toml; sisimai MailboxFull.pm, Suspend.pm',
    replies: [
      ['mailbox-full', "550 User's mailbox is full: <lena@harbor.example>"],
      ['mailbox-full', '550 5.5.0 User\u2019s mailbox is full: <lena@harbor.example>'],
      ['mailbox-full', '552 5.2.2 Mailbox size limit exceeded'],
      ['mailbox-full', '552 5.1.1 <lena@harbor.example> recipient rejected - extended quota violation'],
      ['mailbox-full', '552 Requested mail action aborted: exceeded storage allocation'],
      ['mailbox-full', '552 Requested mail action aborted: exceeded storage allocation Quota exceeded.'],
      [
        'mailbox-full',
        '554 5.2.2 <lena@harbor.example>: Recipient address rejected: Quota exceeded (mailbox for user is full)',
      ],
      ['mailbox-full', '552 Too much mail data lena@harbor.example'],
      ['mailbox-full', "550 The user's space has been used up"],
      ['mailbox-full', '452 lena: mailfolder is full'],
      ['mailbox-inactive', '550 [suspend] Mailbox currently suspended - Please contact correspondent directly'],
      [
        'mailbox-inactive',
        '550 Message was not accepted -- invalid mailbox. Local mailbox lena@harbor.example is unavailable: account is disabled',
      ],
      [
        'mailbox-inactive',
        '554 delivery error: dd Sorry, your message to lena@harbor.example cannot be delivered. This mailbox is disabled (554.30).',
      ],
      [
        'mailbox-inactive',
        '550 5.7.1 <lena@harbor.example>: Recipient address rejected: Inactive MailBox, not poped for more than 6 months',
      ],
    ],
  },
  {
    source:
      'Filters of the recipient: sisimai Reason/Filtered.pm at 04269e4; pomoc.poczta.interia.pl; smtp-field-manual issue 11 of 2019-10-03',
    replies: [
      ['filtered', '550 5.7.1 Recipient doesn\u0027t want your mail'],
      ['filtered', '550 You have been blocked by the recipient'],
      ['filtered', '550 User refuses to receive this mail'],
      ['filtered', '550 Mail is rejected by recipients'],
      ['filtered', '550 Message rejected due to user rules'],
      ['filtered', '550 5.7.1 Refused due to recipient preferences'],
      [
        'filtered',
        '554 5.7.1 The recipient definitively does not want your mail. It will not be delivered but analyzed again.',
      ],
    ],
  },
  {
    source: 'None: the same meanings in the words of these languages, of which no quotation was found',
    replies: [
      ['bad-mailbox', '550 <lena@harbor.example>: Empfaenger unbekannt'],
      ['bad-mailbox', '550 Benutzer unbekannt'],
      ['bad-mailbox', '550 Unbekannter Benutzer'],
      ['bad-mailbox', '550 Unbekannter Empf\u00E4nger'],
      ['bad-mailbox', '550 Postfach existiert nicht'],
      ['mailbox-full', '552 Postfach voll'],
      ['bad-mailbox', '550 Usuario desconocido'],
      ['bad-mailbox', '550 <lena@harbor.example>: Destinatario desconocido'],
      ['mailbox-full', '552 Buzon lleno'],
      ['bad-mailbox', '550 Usu\u00E1rio desconhecido'],
      ['bad-mailbox', '550 Usuario inexistente'],
      ['mailbox-full', '552 Caixa postal cheia'],
      ['bad-mailbox', '550 Utente sconosciuto'],
      ['mailbox-full', '552 Casella piena'],
      ['bad-mailbox', '550 Uzytkownik lena nie istnieje'],
      ['mailbox-full', '552 Skrzynka pelna'],
      ['bad-mailbox', '550 Gebruiker onbekend'],
      ['bad-mailbox', '550 Onbekende gebruiker'],
      ['mailbox-full', '552 Postbus vol'],
      ['mailbox-full', '552 Boite du destinataire pleine.'],
    ],
  },
]
