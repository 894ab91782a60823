import { REPLY_MEANINGS, type ReplyMeaning, replyMeaning } from '@postrider/core'
import t from 'tap'

/** A reply for each meaning; a code of 0 is a failure that this service found. */
const REPLIES: Readonly<Record<ReplyMeaning, readonly string[]>> = {
  'bad-mailbox': ['550 5.1.1 The email account that you tried to reach does not exist', '550 5.1.1 User unknown'],
  'bad-syntax': ['501 5.1.3 Bad recipient address syntax'],
  'bad-domain': ['550 5.1.2 Host unknown'],
  moved: ['551 5.1.6 The user has moved to x@y.example'],
  'not-accepting': ['556 5.1.10 Recipient address has a null MX'],
  'mailbox-full': ['452 4.2.2 The email account that you tried to reach is over quota', '552 5.2.2 Mailbox full'],
  'mailbox-inactive': ['550 5.2.1 The email account that you tried to reach is disabled'],
  filtered: ['550 5.2.0 rejected by the recipient'],
  'members-only': [
    '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup',
    '550 5.7.1 RESOLVER.RST.NotAuthorized; not authorized',
  ],
  'too-large': ['552 5.3.4 Message size exceeds fixed limit'],
  virus: ['550 5.7.1 Message contains a virus'],
  attachment: ['552 5.7.0 This message was blocked because its content presents a potential security issue'],
  'sender-refused': ['550 5.1.8 Sender address rejected: Domain not found'],
  policy: ['550 5.7.1 Access denied by policy'],
  'block-list': ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org'],
  'listed-link': ['550 5.7.1 Message contains a link listed by URIBL, spam'],
  'reputation-domain': ['550 5.7.1 spam: due to the very low reputation of the sending domain'],
  'reputation-address': ['421 4.7.0 Our system has detected that the reputation of your IP is low'],
  'spam-content': ['550 5.7.1 This message looks like spam'],
  spam: ['554 5.7.1 Spam detected'],
  spf: ['550 5.7.23 SPF validation failed'],
  dkim: ['550 5.7.20 No passing DKIM signature found'],
  dmarc: ['550 5.7.26 Unauthenticated email from ship.example is not accepted due to the DMARC policy of the domain'],
  'reverse-name': ['550 5.7.25 The IP address sending this message does not have a PTR record'],
  authentication: ['550 5.7.26 This mail is unauthenticated'],
  greylisted: ['451 4.7.1 Greylisted, please try again later'],
  'recipient-rate': [
    '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages',
  ],
  'too-many-recipients': ['452 4.5.3 Too many recipients'],
  'too-many-connections': ['421 4.7.0 Too many connections from your host'],
  rate: ['450 4.7.28 unusual rate'],
  relay: ['550 5.7.1 Relaying denied'],
  loop: ['554 5.4.6 Too many hops'],
  'unicode-address': ['553 5.6.7 SMTPUTF8 is required'],
  'not-conformant': ['550 5.7.1 Messages must comply with RFC 5322'],
  protocol: ['503 5.5.1 Bad sequence of commands'],
  'tls-missing': ['0 4.7.4 STARTTLS is not offered'],
  'tls-certificate': ['0 4.7.5 the certificate has expired'],
  dns: ['0 4.4.3 MX lookup failed'],
  unreachable: ['0 4.4.1 connection refused'],
  network: ['451 4.4.0 Connection dropped'],
  expired: ['550 5.4.7 Delivery expired'],
  storage: ['452 4.3.1 Insufficient system storage'],
  system: ['451 4.3.0 Internal server error'],
  other: ['550 no'],
}

t.test('each meaning has a reply that means it', async (t) => {
  t.strictSame(Object.keys(REPLIES), [...REPLY_MEANINGS])
  for (const [meaning, replies] of Object.entries(REPLIES)) {
    for (const line of replies) {
      const [, code, enhanced = null, reply = ''] = /^(\d+) (?:(\d\.\d+\.\d+) )?(.*)$/.exec(line) ?? []
      t.equal(replyMeaning({ code: Number(code) || null, enhanced, reply }, { stage: 'rcpt' }), meaning, line)
    }
  }
})

t.test('a reply that accepts means nothing, and the class that is stored counts', async (t) => {
  t.equal(replyMeaning({ code: 250, enhanced: '2.0.0', reply: 'OK' }), undefined)
  t.equal(replyMeaning({ code: 550, enhanced: null, reply: 'no', class: 'mailbox-full' }), 'mailbox-full')
  t.equal(replyMeaning({ code: 550, enhanced: null, reply: 'no', class: 'of a later version' }), 'other')
})
