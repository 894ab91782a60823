import t from 'tap'
import { type BounceClass, bounceClass } from '../../packages/core/src/delivery/outcomes/bounce-rules.ts'
import { ReplyReader } from '../../packages/delivery/src/smtp/reply-reader.ts'
import { OF_EUROPEAN_PROVIDERS } from './wordings/european-providers.ts'
import { OF_FILTERS } from './wordings/filters.ts'
import { OF_OVERSEAS_PROVIDERS } from './wordings/overseas-providers.ts'
import { OF_RECIPIENTS } from './wordings/recipients.ts'

function classOf(reply: string): BounceClass {
  for (const { enhanced, text } of new ReplyReader().push(Buffer.from(`${reply}\r\n`)))
    return bounceClass(enhanced, text)
  throw new Error(`not a reply: ${reply}`)
}

for (const { source, replies } of [...OF_EUROPEAN_PROVIDERS, ...OF_OVERSEAS_PROVIDERS, ...OF_FILTERS]) {
  t.test(`a refusal of the sender is one, whatever its code: ${source}`, async (t) => {
    for (const [expected, reply] of replies) t.equal(classOf(reply), expected, reply)
  })
}

for (const { source, replies } of OF_RECIPIENTS) {
  t.test(`what is said about the recipient is no refusal of the sender: ${source}`, async (t) => {
    for (const [expected, reply] of replies) t.equal(classOf(reply), expected, reply)
  })
}

t.test('an unknown user stays one if the reply has words of a refused sender, too', async (t) => {
  for (const reply of [
    '550 5.1.1 <spam@harbor.example>: Recipient address rejected: User unknown',
    '550 5.1.1 User unknown; your IP is 192.0.2.1',
    '550 <lena@policy.example>: no such user; this server is listed in dnswl.example',
    '550 5.1.1 <lena@blocked.example> unknown user, relay=[192.0.2.1] rejected',
    '550 5.1.1 bad destination mailbox address [192.0.2.1]',
    '550 Benutzer unbekannt. Kein Spam.',
  ]) {
    t.equal(classOf(reply), 'bad-mailbox', reply)
  }
  t.equal(classOf('552 5.2.2 mailbox full; see https://harbor.example/policy violations'), 'mailbox-full')
  t.equal(classOf('450 4.1.1 <lena@harbor.example>: unverified address: host 192.0.2.1 refused to talk to me'), 'other')
  t.equal(classOf('452 4.3.1 Insufficient system storage'), 'system')
  t.equal(classOf('552 Message rejected because it is too large'), 'too-large')
  t.equal(classOf('550 Your host is not permitted to send: relaying denied'), 'relay')
  t.equal(classOf('550 harbor.example: this server does not accept mail'), 'not-accepting')
})

t.test('words of the sender in other languages are not those of the recipient', async (t) => {
  for (const reply of [
    '550 Adres nadawcy nie istnieje',
    '550 Absender unbekannt',
    '550 Sie haben zu viele Mails gesendet',
    '550 Mittente sconosciuto',
    '550 the certificate is no longer valid',
  ]) {
    t.notOk(['bad-mailbox', 'mailbox-full'].includes(classOf(reply)), `${reply}: ${classOf(reply)}`)
  }
})

t.test(
  'a recipient rejected at RCPT without a reason and a code is unknown; with either, or later, it may be a filter',
  async (t) => {
    const bare = '<lena@harbor.example>: Recipient address rejected.'
    t.equal(bounceClass('', bare, { stage: 'rcpt' }), 'bad-mailbox')
    t.equal(bounceClass('5.1.1', bare, { stage: 'rcpt' }), 'bad-mailbox')
    t.equal(bounceClass('', `${bare} Come back later`, { stage: 'rcpt' }), 'policy')
    t.equal(bounceClass('5.7.1', bare, { stage: 'rcpt' }), 'policy')
    t.equal(bounceClass('', bare, { stage: 'dot' }), 'policy')
    t.equal(bounceClass('', bare), 'policy', 'nothing is known of the stage')
  },
)

t.test('one who is not a customer is an unknown user, whatever the code', async (t) => {
  const parties = { sender: 'b-tag@bounces.ship.example', recipient: 'lena@harbor.example' }
  for (const [enhanced, text] of [
    ['', 'not our customer'],
    ['', '<lena@harbor.example> is not our customer'],
    ['5.7.1', 'not our customer'],
    ['5.0.0', 'Sorry, lena@harbor.example is not our customer.'],
    ['5.1.6', 'Not our customer; try another provider'],
  ] as const) {
    t.equal(bounceClass(enhanced, text, { stage: 'rcpt', parties }), 'bad-mailbox', `${enhanced} ${text}`)
  }
  t.equal(bounceClass('', 'not our customer', { stage: 'mail', parties }), 'policy')
})

t.test('before RCPT a mailbox or domain that is missing is that of the return path', async (t) => {
  for (const stage of ['greeting', 'ehlo', 'mail'] as const) {
    t.equal(bounceClass('5.1.1', 'User unknown', { stage }), 'policy', stage)
    t.equal(bounceClass('5.1.2', 'no such domain', { stage }), 'policy', stage)
    t.equal(bounceClass('', 'host does not accept mail', { stage }), 'not-accepting', stage)
    t.equal(bounceClass('', 'your IP is blocked', { stage }), 'spam', stage)
  }
  t.equal(bounceClass('5.1.1', 'User unknown', { stage: 'rcpt' }), 'bad-mailbox')
  t.equal(bounceClass('5.1.2', 'the domain does not exist', { stage: 'mx' }), 'bad-domain', 'the own answer of the DNS')
})
