import { readFileSync } from 'node:fs'
import t from 'tap'
import { type BounceClass, bounceClass } from '../../packages/core/src/delivery/outcomes/bounce-rules.ts'
import { ReplyReader } from '../../packages/delivery/src/smtp/reply-reader.ts'
import { corpusPath, skipWithoutCorpora } from '../helpers/corpora.ts'
import { processorTimeOf } from '../helpers/pace.ts'

/** What became of a reply on its way into the record. */
function classOf(reply: string): BounceClass {
  for (const { enhanced, text } of new ReplyReader().push(Buffer.from(`${reply}\r\n`)))
    return bounceClass(enhanced, text)
  throw new Error(`not a reply: ${reply}`)
}

/** Replies as providers and servers word them. */
const WORDINGS: Readonly<Record<BounceClass, readonly string[]>> = {
  'bad-mailbox': [
    '550 5.1.1 The email account that you tried to reach does not exist. Please try double-checking the address',
    '550 5.1.1 <lena@harbor.example>: Recipient address rejected: User unknown in virtual mailbox table',
    '450 4.1.1 <lena@harbor.example>: Recipient address rejected: User unknown in virtual alias table',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found',
    '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)',
    '550 5.2.1 <lena@harbor.example>... User Unknown',
    '550 5.7.1 550 User Unknown: lena@harbor.example',
    '550 5.0.0 <lena@harbor.example>... User unknown',
    '550 lena@harbor.example... No such user',
    '550 No such user here',
    '550 Unknown user lena@harbor.example',
    '550 : User unknown',
    '550 <lena@harbor.example>... User not exist',
    "554 delivery error: dd This user doesn't have a harbor.example account (lena@harbor.example) [0]",
    '550 Requested action not taken: mailbox unavailable',
    '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]',
    '551 not our user',
    '550 Sorry, no mailbox here by that name. (#5.1.1)',
    '550 Rejected (#5.1.1)',
    '550 Unrouteable address',
    '550 No such local user',
    '550 no such person at this address',
    '550 Unknown local part lena in <lena@harbor.example>',
    '550 <lena@harbor.example> is not a valid mailbox',
    '550 Not a known user',
    '550 sorry, no account by that name here',
    '550 <lena@harbor.example> does not have an account here',
    '550 bad destination mailbox address',
    '550 this account has been deleted',
  ],
  'bad-domain': [
    '550 5.1.2 the domain does not exist',
    '450 4.1.2 <lena@harbor.example>: Recipient address rejected: Domain not found',
    '550 5.1.2 Host unknown (Name server: mx.harbor.example: host not found)',
    '554 5.4.4 Unable to route',
    '550 Domain name not found: harbor.example',
    '554 The mail could not be delivered because the domain is not reachable. Please check the domain',
  ],
  moved: [
    '550 5.1.6 recipient no longer on server: lena@harbor.example',
    '551 5.1.6 lena has moved to lena@quay.example',
    '551 User not local; please try <lena@quay.example>',
  ],
  'not-accepting': [
    '556 5.1.10 the domain accepts no mail (null MX)',
    '550 5.7.27 Host does not accept mail',
    '550 5.1.0 harbor.example does not accept mail (nullMX)',
    '521 harbor.example does not accept mail: the server does not accept e-mail',
  ],
  filtered: ['550 5.2.0 Unknown user lena@harbor.example', '550 5.2.0 : User unknown'],
  'mailbox-full': [
    '552 5.2.2 <lena@harbor.example>: user is over quota',
    "552 5.2.2 The recipient's inbox is out of storage space and inactive.",
    '452 4.2.2 The email account that you tried to reach is over quota.',
    '550 Mailbox quota exceeded',
    '554 mailbox is full',
    "550 5.1.0 - Unknown error 550-'5.2.2 <lena@harbor.example>... Mailbox Full'",
    "550 5.1.0 - Unknown address error 550-'5.2.2 <lena@harbor.example>' (delivery attempts: 0)",
    '550 <lena@harbor.example>: no such user: mailbox full',
  ],
  'mailbox-inactive': [
    '550 5.2.1 The email account that you tried to reach is disabled.',
    '550 5.2.1 The email account that you tried to reach is inactive.',
    '525 5.7.13 Disabled recipient address',
    '550 Mailbox is frozen. See http://mail.example/err/3/',
    '550 5.7.1 <lena@harbor.example>: Recipient address rejected: User lena@harbor.example temporary locked.',
    '550 5.5.0 Le compte du destinataire est bloque. The recipient account is blocked. LPN007_426',
    '554 account suspended',
  ],
  'too-large': [
    '552 5.3.4 Message size exceeds fixed limit',
    '552 5.2.3 Message size exceeds fixed maximum message size (10485760)',
    '550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient',
    '552 Message too big',
  ],
  policy: [
    '550 <lena@harbor.example>: Recipient address rejected',
    "550 5.1.0 - Unknown address error 550-'5.7.1 <lena@harbor.example>... Access denied' (delivery attempts: 0)",
    '554 5.7.1 Virus detected in message',
    '550 Denied by policy',
    '450 4.7.1 <mx.ship.example>: Helo command rejected: Host not found',
    '553 5.1.8 <desk@ship.example>: Domain not found',
    '550 5.7.0 Local Policy Violation',
    '554 5.7.9 Message not accepted for policy reasons.',
    '554 5.7.1 <lena@harbor.example>: Recipient address rejected: Access denied',
    '550-5.7.1 [192.0.2.222 13] Messages with multiple addresses in From: header are not accepted.\r\n550 5.7.1 x',
    '450 4.1.8 <desk@ship.example>: Sender address rejected: Domain not found',
    '553 5.1.8 <desk@ship.example>... Domain of sender address desk@ship.example does not exist',
    '501 5.1.8 Sender address rejected',
    '550 5.1.0 <desk@ship.example> sender rejected. AUP#CDRBL',
  ],
  spam: [
    '554 Blocked - see https://harbor.example/why?ip=192.0.2.1',
    '550 5.2.0 Mail rejete. Mail rejected. OFR_506 [506]',
    '550 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    "550 5.7.1 messages from [192.0.2.1] weren't sent; part of their network is on our block list (S3150).",
    '550 5.7.1 IP address blacklisted by recipient',
    '554 5.7.0 Reject, id=20025-09 - SPAM',
    '550 5.7.1 Message content rejected, UBE, id=00000-22-225',
    '550 5.7.606 Access denied, banned sending IP [198.51.100.222].',
    '554 5.7.1 The message was rejected because of low reputation',
  ],
  authentication: [
    '450 4.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    '554 5.7.1 The server sending your mail [192.0.2.1] does not have a reverse DNS entry. Connection rejected: no PTR',
    '550-5.7.26 The MAIL FROM domain has an SPF record with a hard fail policy\r\n550 5.7.26 (-all)',
    '550 5.7.515 Access denied, sending domain ship.example does not meet the required authentication level.',
    '550 5.7.1 Email rejected per DMARC policy for ship.example',
    "550 5.1.0 192.0.2.222 is not allowed to send from <ship.example> per it's SPF Record.",
    '550 5.7.1 Connections not accepted from servers without a valid sender domain. Fix reverse DNS for 203.0.113.2',
    '550 5.7.1 This message does not have authentication information or fails to pass',
    '550 domain [ship.example] mismatches client ip 192.0.2.225. ',
  ],
  rate: [
    '421 4.7.28 Our system has detected an unusual rate of unsolicited mail',
    '450-5.2.1 The user you are trying to contact is receiving mail at a rate that\r\n450 5.2.1 prevents more',
    '451 4.7.1 Greylisting in action, please come back later',
    '451 4.7.650 The mail server [192.0.2.25] has been temporarily rate limited due to IP reputation.',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    '452 4.3.2 Connection rate limit exceeded.',
    '421 too many connections from your host',
    '550 Ip frequency limited [192.0.2.22].',
  ],
  relay: [
    '554 5.7.1 <lena@harbor.example>: Relay access denied',
    '550 relaying not permitted',
    '550 5.7.1 Unable to relay',
    '550 We do not relay',
  ],
  protocol: ['501 5.5.4 Invalid arguments', '503 5.5.1 bad sequence', '550 5.6.7 SMTPUTF8 is needed'],
  network: [
    '451 4.4.3 the DNS did not answer',
    '550 5.1.2 Host or domain name not found. Name service error for name=a.example type=MX: Host not found, try again',
    '554 5.4.4 temporary failure in name resolution',
    '550 5.4.3 DNS lookup of a.example failed: SERVFAIL',
    '450 4.1.2 Domain not found, please try again',
    '550 5.4.6 loop',
    '550 5.4.4 Name service error for name=harbor.example type=MX: Malformed reply',
  ],
  expired: ['550 4.4.7 QUEUE.Expired; message expired', '554 delivery time expired'],
  system: [
    '554 5.3.5 Local configuration error',
    '550 procmail: Couldn\'t create "/var/spool/mail/lena" id: lena: No such user',
    '554 No space left on device',
    '451 4.3.0 Other mail system problem',
  ],
  other: ['550 Rejected', '554 Transaction failed', '550', '550 Host not reachable'],
}

/** Postfix, Exim, cPanel, MailEnable and others, where they look the return path up before they take mail for anybody. */
const ABOUT_SENDER = [
  '550 5.1.0 <desk@ship.example>: Sender address rejected: User unknown',
  '550 5.1.0 <desk@ship.example>: Sender address rejected: User unknown in virtual mailbox table',
  '550 5.1.7 <desk@ship.example>: Sender address rejected: undeliverable address: host mx.ship.example said: 550 5.1.1 User unknown',
  '550 Sender verify failed',
  '550-Verification failed for <desk@ship.example>\r\n550-No Such User Here\r\n550 Sender verify failed',
  '550 Verification failed for <desk@ship.example>: unknown user',
  '550 5.1.1 Sender does not exist',
  '550 sender address could not be verified: no such user',
  '550 Unknown sender',
  '553 5.1.3 Invalid return path',
  '550 5.1.0 MAIL FROM address is unknown',
  '550 Mail from <desk@ship.example> rejected: unknown domain',
  '550 Domain of sender address desk@ship.example does not exist',
]

t.test('a reply about the sender says nothing of the mailbox of the recipient', async (t) => {
  for (const reply of ABOUT_SENDER) t.equal(classOf(reply), 'policy', reply)
})

t.test('a reply that quotes the return path and not the recipient is about the sender', async (t) => {
  const parties = { sender: 'b-abc@bounces.ship.example', recipient: 'lena@harbor.example' }
  for (const [text, expected] of [
    ['<B-abc@bounces.ship.example>: User unknown', 'policy'],
    ['<b-abc@bounces.ship.example> mailbox is full', 'policy'],
    ['<lena@harbor.example>: User unknown, said for b-abc@bounces.ship.example', 'bad-mailbox'],
    ['User unknown', 'bad-mailbox'],
    ['<b-abc@bounces.ship.example> sends spam', 'spam'],
    ['Callout verification failed for <lena@harbor.example>: User unknown', 'bad-mailbox'],
    ['<lena@harbor.example>: unknown user, mail from denied', 'bad-mailbox'],
    ['Verification failed for <b-abc@bounces.ship.example>: User unknown', 'policy'],
    ['<lena@harbor.example>: Recipient address rejected: Sender verify failed: user unknown', 'policy'],
  ] as const) {
    t.equal(bounceClass('', text, { parties }), expected, text)
  }
  t.equal(
    bounceClass('', 'User unknown', { parties: { ...parties, sender: '' } }),
    'bad-mailbox',
    'there is no return path',
  )
})

t.test(
  '"user unknown", said after the message, is the word of a filter, unless it comes with the code for it',
  async (t) => {
    for (const stage of ['data', 'dot'] as const) {
      t.equal(bounceClass('', 'User unknown', { stage }), 'filtered', stage)
      t.equal(bounceClass('5.7.1', '550 User Unknown', { stage }), 'filtered', stage)
      t.equal(bounceClass('5.1.1', 'User unknown', { stage }), 'bad-mailbox', stage)
      t.equal(bounceClass('', 'no mailbox here by that name (#5.1.1)', { stage }), 'bad-mailbox', stage)
      t.equal(bounceClass('', 'mailbox is full', { stage }), 'mailbox-full', stage)
    }
    t.equal(bounceClass('', 'User unknown', { stage: 'rcpt' }), 'bad-mailbox')
    const yahoo = "delivery error: dd This user doesn't have a harbor.example account (lena@harbor.example) [0]"
    t.equal(bounceClass('', yahoo, { stage: 'dot' }), 'bad-mailbox', 'a statement about the account')
  },
)

for (const [expected, replies] of Object.entries(WORDINGS)) {
  t.test(`replies of class ${expected} are known by their words`, async (t) => {
    for (const reply of replies) t.equal(classOf(reply), expected, reply)
  })
}

/** What the corpus says of a report, and the class that goes with it. */
const REASONS: Readonly<Record<string, BounceClass>> = {
  userunknown: 'bad-mailbox',
  mailboxfull: 'mailbox-full',
  mesgtoobig: 'too-large',
  exceedlimit: 'too-large',
  authfailure: 'authentication',
  suspend: 'mailbox-inactive',
  spamdetected: 'spam',
  norelaying: 'relay',
}

t.test(
  'replies quoted in real bounce reports get the class of their reason, nearly all of them',
  skipWithoutCorpora,
  async (t) => {
    const reports = JSON.parse(readFileSync(corpusPath('bounces/expected.json'), 'utf8')) as Record<
      string,
      { reason: string }[]
    >
    const wrong: string[] = []
    let evaluated = 0
    for (const [file, [report]] of Object.entries(reports)) {
      const expected = REASONS[report?.reason ?? '']
      const text = readFileSync(corpusPath(`bounces/${file}`), 'latin1')
      const quoted = /^diagnostic-code: *smtp; *(\d{3}(?:[^\r\n]|\r?\n[ \t])*)/im.exec(text)?.[1]?.replace(/\s+/g, ' ')
      if (!expected || !quoted) continue
      evaluated++
      const found = classOf(quoted.replace(/^(\d{3})-/, '$1 '))
      if (found !== expected) wrong.push(`${found}, not ${expected}: ${quoted}`)
    }
    t.comment(wrong.join('\n'))
    t.ok(evaluated > 40, `${evaluated} replies`)
    t.ok(wrong.length <= evaluated * 0.05, `${wrong.length} of ${evaluated} wrong`)
  },
)

t.test('looking for such words in hostile text takes no time', async (t) => {
  for (const piece of [
    'user ',
    'mailbox ',
    'unknown ',
    'account',
    'message ',
    'sender ',
    'sender address is not ',
    'x',
    'quota over ',
    'no such ',
  ]) {
    const took = await processorTimeOf(() => bounceClass('', piece.repeat(100_000 / piece.length)))
    t.ok(took < 2000, JSON.stringify(piece))
  }
})

t.test(
  'a domain of which a reply says only that it does not exist is that of the recipient, or of the return path',
  async (t) => {
    const parties = { sender: 'b-tag@bounces.ship.example', recipient: 'lena@harbor.example' }
    const of = (reply: string, stage: 'mail' | 'rcpt' = 'rcpt') => bounceClass('', reply, { parties, stage })
    t.equal(of('harbor.example does not exist'), 'bad-domain')
    t.equal(of('harbor.example does not exist', 'mail'), 'policy')
    // Of J:COM: note.com/sendmagic/n/n59a9f610bc0e, read on 2026-11-29.
    t.equal(of('bounces.ship.example does not exist'), 'policy')
    for (const other of ['quay.example does not exist', 'bor.example does not exist', 'it does not exist'])
      t.equal(of(other), 'other', other)
  },
)
