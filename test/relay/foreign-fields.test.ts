import { UNRESTRICTED } from '@postrider/core'
import t from 'tap'
import { startDns } from '../helpers/dns.ts'
import { makeService } from '../helpers/service.ts'
import { accepted } from './conformance/accepted.ts'
import { createSigningKey } from './returns/aggregate-reports.ts'
import { openSession } from './session.ts'

/** Fields beside From in which a reader sees, or a program trusts, who a message is from (docs/decisions/0045-identity-fields.md). */
const KEY = createSigningKey('forwarder.example')
const dns = await startDns(t, KEY.zones)
const service = await makeService(t, { DNS_SERVERS: dns.address, HELO_NAME: 'relay.ship.test' })
await service.openRelay()
const sender = await service.makeSender()
const stranger = await service.makeSender()
const desk = `desk@${sender.domain}`
const COMMON = [
  `From: Ship Desk <${desk}>`,
  'To: lena@harbor.example',
  'Subject: Berth 4',
  'Date: Mon, 30 Nov 2026 08:00:00 +0000',
  'Message-ID: <berth-4@ship.example>',
]
const written = (...fields: readonly string[]): string =>
  `${[...fields, ...COMMON].join('\r\n')}\r\n\r\nYour berth is ready.\r\n`

async function submit(message: string, { from = desk, to = 'lena@harbor.example', apiKey = sender.apiKey } = {}) {
  const client = await openSession(t, service, { apiKey })
  const reply = await client.submit(from, to, message)
  client.destroy()
  return { reply, text: (await accepted(service, reply)).text }
}

const NOT_OURS = 'since the account may not send as that address'
const OURS = [
  `Sender: crew@${sender.domain}`,
  `Resent-From: Crew <crew@${sender.domain}>, ${desk}`,
  `Resent-Sender: crew@${sender.domain}`,
  'Authentication-Results: mx.harbor.example; spf=pass smtp.mailfrom=ship.example',
  'Authentication-Results: x (by relay.ship.test); none',
  'Received-SPF: pass (harbor.example) client-ip=192.0.2.1; receiver=mx.harbor.example',
  'ARC-Authentication-Results: i=1; relay.ship.test; spf=pass',
  'Reply-To: crew@unknown.example',
]

for (const field of OURS) {
  t.test(`${field} stays`, async (t) => {
    const message = written(field)
    const { reply, text } = await submit(message)
    t.equal(text, message)
    t.notMatch(reply, 'removed')
  })
}

const FOREIGN: readonly (readonly [fields: readonly string[], said: string])[] = [
  [['Sender: president@bank.example'], `Sender was removed, ${NOT_OURS}`],
  [[`Sender: desk@${stranger.domain}`], `Sender was removed, ${NOT_OURS}`],
  [[`Sender: ${desk}, president@bank.example`], `Sender was removed, ${NOT_OURS}`],
  [['Sender: The President'], `Sender was removed, ${NOT_OURS}`],
  [[`Sender: crew@web1.${sender.domain}`], `Sender was removed, ${NOT_OURS}`],
  [
    [
      'Resent-From: president@bank.example',
      'Resent-To: lena@harbor.example',
      'Resent-Date: Mon, 30 Nov 2026 07:00:00 +0000',
    ],
    `Resent-From, Resent-To, Resent-Date were removed, ${NOT_OURS}`,
  ],
  [
    [`Resent-From: ${desk}`, 'Resent-Sender: president@bank.example'],
    `Resent-From, Resent-Sender were removed, ${NOT_OURS}`,
  ],
  ...[
    'Authentication-Results: relay.ship.test; dkim=pass header.d=bank.example',
    'authentication-results: (a (comment)) "RELAY.ship.test" 1; spf=pass',
    'Received-SPF: pass client-ip=192.0.2.1; receiver=relay.ship.test; identity=mailfrom',
    'Received-SPF: pass (receiver=mx.harbor.example) client-ip=192.0.2.1; receiver=relay.ship.test;',
    'Received-SPF: pass client-ip=192.0.2.1; receiver (a)= (b) "relay.ship.test";',
    'BIMI-Indicator: PHN2Zz4=',
    'BIMI-Location: v=BIMI1; l=https://bank.example/logo.svg',
  ].map((field): [string[], string] => [
    [field],
    `${field.split(':')[0]} was removed, since only a receiver writes that`,
  ]),
]

for (const [fields, said] of FOREIGN) {
  t.test(`${fields.join(' and ')}: is accepted without it, and the reply says so`, async (t) => {
    const { reply, text } = await submit(written(...fields))
    t.equal(text, written())
    t.match(reply, `(${said})`)
  })
}

t.test('a Sender at a host below an active domain stays in a message with the null sender', async (t) => {
  const field = `Sender: root@web1.${sender.domain}`
  t.equal((await submit(written(field), { from: '', to: `lena@${sender.domain}` })).text, written(field))
})

t.test('Sender may be at another active domain of the account, if the key may send from it', async (t) => {
  const { accountId } = sender
  await service.giveKey('second.example')
  await service.core.domains.add({ accountId, name: 'second.example', state: 'active' })
  const message = written('Sender: crew@second.example')
  t.equal((await submit(message)).text, message)
  const restrictions = { ...UNRESTRICTED, senderDomains: [sender.domain] }
  const { secret } = await service.core.auth.createKey({ accountId, scopes: ['send'], restrictions })
  t.equal((await submit(message, { apiKey: secret })).text, written())
})

const signed = async (message = written()): Promise<string> => (await KEY.sign(Buffer.from(message))).toString('latin1')
const SAID = 'a DKIM signature that does not verify was removed'

t.test('a DKIM signature of another that verifies stays, and the message octet for octet', async (t) => {
  const message = await signed()
  const { reply, text } = await submit(message)
  t.equal(text, message)
  t.notMatch(reply, 'removed')
})

t.test('a DKIM signature is removed if it does not verify: altered, or of a domain without such a key', async (t) => {
  const message = await signed()
  for (const altered of [
    message.replace('Subject: Berth 4', 'Subject: Berth 5'),
    message.replace('is ready', 'is gone'),
    message.replaceAll('forwarder.example', sender.domain),
    message.replaceAll('forwarder.example', 'bank.example'),
  ]) {
    const { reply, text } = await submit(altered)
    t.match(reply, `(${SAID})`)
    t.notMatch(text, /^DKIM-Signature/im)
    t.equal(text, altered.replace(/^DKIM-Signature:[^\r]*(?:\r\n[ \t][^\r]*)*\r\n/i, ''))
  }
})

t.test('of several signatures those stay that verify, and no more than five are looked at', async (t) => {
  const message = await signed()
  const end = message.search(/\r\n(?![ \t])/) + 2
  const [good, rest] = [message.slice(0, end), message.slice(end)]
  const bad = good.replaceAll('forwarder.example', 'bank.example')
  const mixed = await submit(`${bad}${good}${bad}${rest}`)
  t.equal(mixed.text, `${good}${rest}`)
  t.match(mixed.reply, '(2 DKIM signatures that do not verify were removed)')
  const many = await submit(`${bad.repeat(5)}${good}${rest}`)
  t.equal(many.text, rest)
})

t.test('a signature that covers a field which is removed no longer verifies', async (t) => {
  const { reply, text } = await submit(await signed(written('Sender: president@bank.example')))
  t.match(reply, `(Sender was removed, ${NOT_OURS}; ${SAID})`)
  t.equal(text, written())
})

t.test(
  'name servers that do not answer do not keep a message from being accepted, without its signature',
  async (t) => {
    const message = (await signed()).replaceAll('forwarder.example', 'slow.example')
    dns.zones['s1._domainkey.slow.example'] = { fails: 'silence' }
    const { reply } = await submit(message)
    t.match(reply, `(${SAID})`)
  },
)

t.test('no DNS query is made for a message without signatures', async (t) => {
  dns.questions.length = 0
  await submit(written())
  t.strictSame(dns.questions, [])
})
