import t from 'tap'
import { LENA, plainReport, report, verdicts } from './reports.ts'

/** A report on one recipient, with these lines for people and these fields. */
interface Fields {
  readonly status?: string
  /** Written octet by octet: a text in another charset is given in Latin-1. */
  readonly diagnostic?: string
  readonly text?: readonly string[]
}

function failed({ status = '5.0.0', diagnostic, text }: Fields): Buffer {
  const fields = [`Final-Recipient: rfc822; ${LENA}`, 'Action: failed', `Status: ${status}`]
  const code = diagnostic === undefined ? [] : [`Diagnostic-Code: ${diagnostic}`]
  return Buffer.from(report({ ...(text ? { text } : {}), status: [...fields, ...code, ''] }).toString(), 'latin1')
}

const said = (reply: string) => failed({ diagnostic: `smtp; ${reply}` })
/** Exim has this field in all its reports. */
const EXIM_HEADER = [
  'Return-Path: <>',
  'From: Mail Delivery System <mailer-daemon@harbor.example>',
  `X-Failed-Recipients: ${LENA}`,
  'Subject: Mail delivery failed',
]
const exim = (...text: readonly string[]) => plainReport(text, EXIM_HEADER)
const x3 = (...details: readonly string[]) =>
  plainReport(
    [
      '      This is an automatically generated Delivery Status Notification.',
      '',
      'Delivery to the following recipients failed permanently:',
      '',
      `   * ${LENA}`,
      '',
      '                             Technical details:',
      '',
      ...details,
    ],
    [
      'Return-Path: <>',
      'From: Mail Delivery System <postmaster@harbor.example>',
      'Subject: Delivery status notification',
    ],
  )
const exchange = (...lines: readonly string[]) =>
  plainReport(
    [
      'Your message',
      '',
      `  To:      ${LENA}`,
      '  Subject: Berth 4',
      '  Sent:    Thu, 19 Nov 2026 10:00:00 +0000',
      '',
      'did not reach the following recipient(s):',
      '',
      ...lines,
    ],
    [
      'Return-Path: <>',
      'From: System Administrator <postmaster@harbor.example>',
      'Subject: Undeliverable: Berth 4',
      'X-MS-Embedded-Report:',
    ],
  )
const ON = `${LENA} on Thu, 19 Nov 2026 11:00:00 -0000`
/** ISO-2022-JP, as it was written into a field. */
const japanese = (hex: string) => Buffer.from(hex, 'hex').toString('latin1')

/** Each kind of report that was misread, with what is to be read in it. */
const KINDS: Readonly<Record<string, readonly (readonly [expected: string, report: Buffer])[]>> = {
  'the transcript says more than the fields': [
    [
      'hard bad-mailbox',
      failed({
        status: '5.5.0',
        diagnostic: 'smtp; 550 Requested action not taken',
        text: [
          '   ----- Transcript of session follows -----',
          `>>> RCPT To:<${LENA}>`,
          '<<< 550 Requested action not taken',
          `550 5.1.1 <${LENA}>... User unknown`,
        ],
      }),
    ],
    ['hard bad-mailbox', failed({ status: '5.5.0', diagnostic: 'smtp; 550 unknown user' })],
    [
      'hard bad-mailbox',
      failed({ text: [`<${LENA}>: host mx[192.0.2.1] said: 550 no such user (in reply to RCPT TO command)`] }),
    ],
    [
      'soft mailbox-full',
      failed({
        status: '5.1.1',
        text: ['   ----- Transcript of session follows -----', '>>> DATA', '<<< 552 5.2.2 Over quota'],
      }),
    ],
    [
      'soft mailbox-full',
      failed({
        status: '5.1.1',
        diagnostic: `smtp; 550 5.1.1 <${LENA}>... User unknown`,
        text: [`Your message to <${LENA}> was automatically rejected:`, 'Not enough disk space'],
      }),
    ],
    [
      'hard not-accepting',
      failed({ status: '5.3.2', diagnostic: 'smtp; 521 5.3.2 mx.harbor.example does not accept mail' }),
    ],
    ['soft system', failed({ status: '5.3.2', diagnostic: 'smtp; 554 5.3.2 STOREDRV.Deliver; try again later' })],
    [
      'soft mailbox-full',
      failed({ status: '5.0.0', diagnostic: 'smtp; mx.harbor.example', text: ['552 5.2.2 Mailbox full'] }),
    ],
  ],
  German: [
    [
      'hard bad-mailbox',
      exim('Die folgende(n) Adresse(n) sind fehlgeschlagen:', '', `  ${LENA}`, '    Benutzer nicht gefunden'),
    ],
    [
      'hard bad-mailbox',
      exim(
        'Eine Nachricht konnte nicht zugestellt werden.',
        '',
        `  ${LENA}`,
        `    SMTP-Fehler nach RCPT TO:<${LENA}>:`,
        '    550 Benutzer unbekannt',
      ),
    ],
    ['hard bad-mailbox', said('550 Adresse existiert nicht')],
    ['hard bad-mailbox', said('550 Kein solcher Benutzer hier')],
    ['soft mailbox-full', said('552 Das Postfach des Empfaengers ist voll')],
    ['soft mailbox-full', exim('Folgende Adressen:', '', `  ${LENA}`, '    Das Postfach ist voll')],
    ['soft spam', said('550 Ihre Nachricht wurde als Spam abgelehnt')],
  ],
  French: [
    ['hard bad-mailbox', said("550 Cette adresse n'existe pas")],
    ['hard bad-mailbox', said("550 Le destinataire n'existe pas")],
    ['hard bad-mailbox', said('550 =?utf-8?Q?Bo=C3=AEte_aux_lettres_inconnue?=')],
    ['hard bad-mailbox', said('550 Adresse inconnue')],
    ['hard bad-mailbox', said('550 Utilisateur inconnu')],
    ['soft mailbox-full', said('552 La boite aux lettres du destinataire est pleine')],
  ],
  'Japanese in ISO-2022-JP': [
    // The address does not exist.
    [
      'hard bad-mailbox',
      said(`550 ${japanese('1b244230384068244e2561213c256b25222549256c2539244f42383a5f2437245e243b24731b2842')}`),
    ],
    [
      'hard bad-mailbox',
      said(`550 ${japanese('1b24423b58446a2435246c243f25222549256c2539244f42383a5f2437245e243b24731b2842')}`),
    ],
    // The user was not found; there is no such user.
    ['hard bad-mailbox', said(japanese('1b24422566213c2536213c242c382b2444242b246a245e243b24731b2842'))],
    ['hard bad-mailbox', said(japanese('1b2442333a45762439246b2566213c2536244f2424245e243b24731b2842'))],
    // It is not in the Domino directory.
    [
      'hard bad-mailbox',
      failed({
        diagnostic: `X-Notes; ${japanese('1b24422566213c2536213c1b2842204c656e61201b2442244f1b2842446f6d696e6f1b244225472523256c252f2548256a244e256a25392548244b2422246a245e243b24731b2842')}`,
      }),
    ],
    // The mailbox is full, or its capacity too small.
    ['soft mailbox-full', said(japanese('1b24422561213c256b255c2543252f2539242c2424244324512424244724391b2842'))],
    [
      'soft mailbox-full',
      said(japanese('1b24422561213c256b255c2543252f2539244e4d464e4c242c4954422d243724462424245e24391b2842')),
    ],
  ],
  'a host or domain is named, and not the reason': [
    ['hard bad-domain', said('553 harbor.example does not exist')],
    ['hard bad-domain', said("550 Domain 'harbor.example' does not exist")],
    // It is not the recipient's.
    ['soft other', said('553 ship.example does not exist')],
    [
      'hard bad-mailbox',
      exim(
        'The following address(es) failed:',
        '',
        `  ${LENA}`,
        `    The mail server could not deliver mail to ${LENA}.  The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.`,
      ),
    ],
    [
      'soft policy',
      said(
        '550 Verification failed for <b-tag@bounces.ship.example> The mail server could not deliver mail to b-tag@bounces.ship.example. The account or domain may not exist, they may be blacklisted, or missing the proper dns entries. Sender verify failed',
      ),
    ],
    ['soft other', said('554 mx.harbor.example')],
  ],
  'a mailbox that is full': [
    ['soft mailbox-full', said(`554 User's mailbox is full: <${LENA}>`)],
    ['soft mailbox-full', exim(`User's mailbox is full: <${LENA}>`, 'Unable to deliver mail.')],
    [
      'soft mailbox-full',
      failed({ status: '5.1.1', text: [`User's mailbox is full: <${LENA}>`, 'Unable to deliver mail.'] }),
    ],
    ['soft mailbox-full', failed({ status: '5.0.0', diagnostic: 'X-Unix; mailbox is full: user over quota' })],
    ['soft mailbox-full', plainReport([`User's mailbox is full: <${LENA}>`, 'Unable to deliver mail.'])],
  ],
  '"Did not reach the following recipient:"': [
    [
      'soft other',
      plainReport(['Your Message', '', `To:      <${LENA}>`, '', `Did not reach the following recipient: ${LENA}`]),
    ],
    [
      'hard bad-mailbox',
      plainReport([`Did not reach the following recipient: ${LENA}`, '', 'Reason: no such user here']),
    ],
    ['hard bad-mailbox', plainReport([`Did not reach the following recipient: ${LENA}`, '550 5.1.1 User unknown'])],
    ['soft mailbox-full', plainReport([`Did not reach the following recipient: ${LENA}`, 'The mailbox is full'])],
    ['soft spam', plainReport([`Did not reach the following recipient: ${LENA}`, '554 5.7.1 rejected as spam'])],
  ],
  'Exchange 2003': [
    [
      'hard bad-mailbox',
      exchange(
        ON,
        '    The recipient name is not recognized',
        '    MSEXCH:IMS:LENA:HARBOR:MAIL 0 (000C05A6) Unknown Recipient',
      ),
    ],
    [
      'soft other',
      exchange(
        ON,
        '    The message could not be delivered',
        '    MSEXCH:IMS:LENA:HARBOR:MAIL 0 (000B09B6) See the reply',
      ),
    ],
    [
      'soft too-large',
      exchange(
        ON,
        '    The message exceeds the maximum size',
        '    MSEXCH:IMS:HARBOR:MAIL 0 (000B099C) Message size exceeds the limit',
      ),
    ],
    [
      'hard bad-mailbox',
      exchange(
        `      ${LENA} on 4/29/99 9:19:59 AM`,
        '      The e-mail account does not exist at the organization this message was sent to.',
        '            <mx.harbor.example #5.1.1>',
      ),
    ],
    ['soft mailbox-full', exchange(ON, '    The recipient mailbox is full', '            <mx.harbor.example #5.2.2>')],
    [
      'hard bad-mailbox',
      exchange(
        `c=us;a= ;p=harbor;dda:SMTP=${LENA}; on Thu, 19 Nov 2026 11:00:00 -0000`,
        '    The recipient name is not recognized',
      ),
    ],
  ],
  X3: [
    ['hard bad-mailbox', x3(`SMTP:RCPT host 192.0.2.8: 553 5.3.0 <${LENA}>... No such user here`)],
    ['soft mailbox-full', x3('Diagnostic-Code: smtp; 552 5.2.2 Over quota')],
    ['soft network', x3(`Routing: Could not find a gateway for ${LENA}`)],
    ['soft filtered', x3('SMTP:DATA host 192.0.2.8: 550 User unknown')],
    ['soft spam', x3('SMTP:DATA host 192.0.2.8: 554 5.7.1 rejected as spam')],
  ],
  'other layouts': [
    [
      'hard bad-domain',
      plainReport(
        [
          '|------------------------- Message log follows: -------------------------|',
          ' no valid recipients were found for this message',
          '|------------------------- Failed addresses follow: ---------------------|',
          ` ${LENA} ... unknown host`,
          '|------------------------- Message text follows: ------------------------|',
          'Subject: 550 5.1.1 User unknown',
        ],
        ['From: <MAILER-DAEMON@harbor.example>', 'Subject: mail failed, returning to sender'],
      ),
    ],
    [
      'hard bad-mailbox',
      plainReport([
        '|------------------------- Failed addresses follow: ---------------------|',
        ` ${LENA} ... unknown user`,
        '|------------------------- Message text follows: ------------------------|',
      ]),
    ],
  ],
}

for (const [kind, reports] of Object.entries(KINDS)) {
  t.test(`reports of the kind "${kind}" are read`, async (t) => {
    for (const [at, [expected, raw]] of reports.entries()) {
      const [verdict = ''] = verdicts(raw)
      t.equal(verdict.replace(/^\S* failed /, ''), expected, `${at}: ${verdict}`)
    }
  })
}
