import t, { type Test } from 'tap'
import { moveClock } from '../helpers/database.ts'
import { isInTime } from '../helpers/pace.ts'
import { makeService, type Sender } from '../helpers/service.ts'
import { base64, CLOSED, plainToken, type SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { connectRelay, mail, NOTHING, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()

async function greeted(t: Test, { tls = true } = {}): Promise<SmtpClient> {
  const client = await connectRelay(t, service, { tls })
  await client.command('EHLO client.test')
  return client
}

const authPlain = (client: SmtpClient, user: string, key: string) =>
  client.command(`AUTH PLAIN ${plainToken(user, key)}`)

async function authLogin(client: SmtpClient, user: string, key: string): Promise<string> {
  const asked = await client.command('AUTH LOGIN')
  if (asked !== '334 VXNlcm5hbWU6') return asked
  const next = await client.command(base64(user))
  return next === '334 UGFzc3dvcmQ6' ? client.command(base64(key)) : next
}

t.test('without TLS, AUTH is not offered, and is refused with 538 whatever the password', async (t) => {
  const sender = await service.makeSender()
  const client = await connectRelay(t, service)
  t.notMatch(await client.command('EHLO client.test'), /AUTH/)
  const attempts = [
    `AUTH PLAIN ${plainToken('apikey', sender.apiKey)}`,
    `AUTH PLAIN ${plainToken('apikey', 'wrong')}`,
    'AUTH PLAIN',
    'AUTH LOGIN',
    `AUTH LOGIN ${base64('apikey')}`,
    'auth plain !!!',
  ]
  for (const attempt of attempts) t.match(await client.command(attempt), /^538 5\.7\.0 /, attempt.slice(0, 12))
  t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^530 5\.7\.0 /)
})

t.test('a mechanism other than PLAIN and LOGIN gets 504', async (t) => {
  const client = await greeted(t)
  for (const mechanism of ['CRAM-MD5', 'XOAUTH2', 'SCRAM-SHA-256', 'toString', '']) {
    t.match(await client.command(`AUTH ${mechanism}`), /^504 5\.5\.4 /, mechanism)
  }
})

/** How a client may say who it is. */
const SPELLINGS: readonly [what: string, user: (sender: Sender) => string][] = [
  ['apikey', () => 'apikey'],
  ['APIKEY', () => 'APIKEY'],
  ["the account's name", ({ accountName }) => accountName],
  ["the account's name in capitals", ({ accountName }) => accountName.toUpperCase()],
]

for (const [what, user] of SPELLINGS) {
  t.test(`PLAIN and LOGIN take ${what} as the user name and an API key as the password`, async (t) => {
    const sender = await service.makeSender()
    t.match(await authPlain(await greeted(t), user(sender), sender.apiKey), /^235 2\.7\.0 /)
    t.match(await authLogin(await greeted(t), user(sender), sender.apiKey), /^235 2\.7\.0 /)
  })
}

t.test('PLAIN and LOGIN work with and without an initial response', async (t) => {
  const { apiKey } = await service.makeSender()
  const plain = await greeted(t)
  t.match(await plain.command('AUTH PLAIN'), /^334 ?$/)
  t.match(await plain.command(plainToken('apikey', apiKey)), /^235 /)
  const login = await greeted(t)
  t.equal(await login.command(`AUTH LOGIN ${base64('apikey')}`), '334 UGFzc3dvcmQ6')
  t.match(await login.command(base64(apiKey)), /^235 /)
})

t.test('AUTH can be given up with *, and a second AUTH after success gets 503', async (t) => {
  const { apiKey } = await service.makeSender()
  const client = await greeted(t)
  await client.command('AUTH LOGIN')
  t.match(await client.command('*'), /^501 /)
  await client.command('AUTH PLAIN')
  t.match(await client.command('*'), /^501 /)
  t.match(await authPlain(client, 'apikey', apiKey), /^235 /)
  t.match(await authPlain(client, 'apikey', apiKey), /^503 /)
})

t.test('wrong credentials get 535 in the same words, and nothing can be sent', async (t) => {
  const sender = await service.makeSender()
  const other = await service.makeSender()
  const wrong: readonly [user: string, key: string][] = [
    ['apikey', 'wrong'],
    ['apikey', `${sender.apiKey.slice(0, -1)}${sender.apiKey.endsWith('a') ? 'b' : 'a'}`],
    ['apikey', sender.apiKey.toUpperCase()],
    [other.accountName, sender.apiKey],
    ['nobody', sender.apiKey],
    ['nobody', 'wrong'],
  ]
  const replies = new Set<string>()
  for (const [user, key] of wrong) {
    const client = await greeted(t)
    replies.add(await authPlain(client, user, key))
    replies.add(await authLogin(client, user, key))
    // Exim and Sendmail would bounce their mail by 530.
    t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^454 4\.7\.0 .*valid API key/)
  }
  t.strictSame([...replies], ['535 5.7.8 Authentication credentials invalid'])
})

t.test('the tenth invalid key ends the session with 421', async (t) => {
  const client = await greeted(t)
  for (let attempt = 1; attempt < 10; attempt++) t.match(await authPlain(client, 'apikey', 'wrong'), /^535 /)
  t.match(await authPlain(client, 'apikey', 'wrong'), /^421 4\.7\.0 /)
  t.equal(await client.reply(), CLOSED)
})

t.test('AUTH with no password, no user name or no sense is refused with 5xx', async (t) => {
  const client = await greeted(t)
  const senseless = [
    `AUTH PLAIN ${plainToken('apikey', '')}`,
    `AUTH PLAIN ${plainToken('', '')}`,
    'AUTH PLAIN =',
    'AUTH PLAIN !!!!',
    `AUTH PLAIN ${base64('apikey')}`,
    `AUTH PLAIN ${base64('a\0b\0c\0d')}`,
    'AUTH PLAIN AGEAYg== AGEAYg==',
    'AUTH LOGIN =',
  ]
  for (const line of senseless) t.match(await client.command(line), /^5\d\d /, line)
})

t.test('a revoked key is refused at AUTH, and inside an open session, within 5 seconds', async (t) => {
  const sender = await service.makeSender()
  const client = await openSession(t, service, sender)
  queueId(await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender)))
  const midway = await openSession(t, service, sender)
  await midway.begin(`desk@${sender.domain}`, 'lena@harbor.example')
  const [key] = await service.core.auth.listKeys(sender.accountId)
  await service.core.auth.revokeKey(key?.id as number)
  const revoked = performance.now()
  await until('the open session to be refused', async () => {
    const reply = await client.command(`MAIL FROM:<desk@${sender.domain}>`)
    await client.command('RSET')
    return reply.startsWith('535 5.7.8 ')
  })
  t.ok(isInTime(revoked, 5000))
  t.match(await authPlain(await greeted(t), 'apikey', sender.apiKey), /^535 5\.7\.8 /)
  t.match(await midway.finish(mail(sender)), /^535 5\.7\.8 /, 'a transaction begun before as well')
  t.strictSame(await stored(service, sender), { messages: 1, deliveries: 1 })
})

/** What may become of a key while a session that showed it is open, and what the session is told then. */
const LOST: readonly [what: string, lose: (id: number) => Promise<unknown>, reply: RegExp][] = [
  ['loses the scope send', (id) => service.core.auth.updateKey(id, { scopes: ['events'] }), /^550 5\.7\.1 /],
  [
    'ends',
    async (id) => {
      await service.core.auth.updateKey(id, { restrictions: { until: new Date(Date.now() + 3_600_000) } })
      await moveClock(service.sql, '61 minutes')
    },
    /^535 5\.7\.8 /,
  ],
  [
    'may no longer be used from there',
    (id) => service.core.auth.updateKey(id, { networks: ['192.0.2.0/24'] }),
    /^550 5\.7\.1 /,
  ],
]

for (const [what, lose, refused] of LOST) {
  t.test(`an open session whose key ${what} is refused at MAIL and at DATA within 5 seconds`, async (t) => {
    const sender = await service.makeSender()
    const { key, secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
    const client = await openSession(t, service, { apiKey: secret })
    const midway = await openSession(t, service, { apiKey: secret })
    queueId(await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender)))
    await midway.begin(`desk@${sender.domain}`, 'lena@harbor.example')
    await lose(key.id)
    const lost = performance.now()
    await until('the open session to be refused', async () => {
      const reply = await client.command(`MAIL FROM:<desk@${sender.domain}>`)
      await client.command('RSET')
      return refused.test(reply)
    })
    t.ok(isInTime(lost, 5000))
    t.match(await midway.finish(mail(sender)), refused, 'a transaction begun before as well')
    t.strictSame(await stored(service, sender), { messages: 1, deliveries: 1 })
    await moveClock(service.sql, '0 minutes')
  })
}

t.test('a key is refused from an address outside its networks', async (t) => {
  const { accountId } = await service.makeSender()
  const { secret: elsewhere } = await service.core.auth.createKey({ accountId, networks: ['192.0.2.0/24'] })
  const { secret: here } = await service.core.auth.createKey({ accountId, networks: ['192.0.2.0/24', '127.0.0.1'] })
  t.equal(
    await authPlain(await greeted(t), 'apikey', elsewhere),
    '535 5.7.1 Calls from this IP address are not allowed',
  )
  t.match(await authPlain(await greeted(t), 'apikey', here), /^235 /)
})

t.test('a key without the scope to send is refused', async (t) => {
  const { accountId } = await service.makeSender()
  const { secret: reader } = await service.core.auth.createKey({ accountId, scopes: [] })
  const { secret: sender } = await service.core.auth.createKey({ accountId, scopes: ['send'] })
  t.match(await authPlain(await greeted(t), 'apikey', reader), /^535 5\.7\.1 /)
  t.match(await authPlain(await greeted(t), 'apikey', sender), /^235 /)
})

for (const [what, stop] of [
  ['suspended', (id: number) => service.core.accounts.suspend(id)],
  ['expired', (id: number) => service.core.accounts.expire(id, null)],
] as const) {
  t.test(`an account that is ${what} may log in, and is refused at MAIL with 550 5.7.1`, async (t) => {
    const sender = await service.makeSender()
    await stop(sender.accountId)
    const client = await openSession(t, service, sender)
    t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), new RegExp(`^550 5\\.7\\.1 .*${what}`))
    t.match(await client.command('RCPT TO:<lena@harbor.example>'), /^503 /)
    t.strictSame(await stored(service, sender), NOTHING)
  })
}

t.test('MAIL, RCPT and DATA without AUTH get 530 on both ports', async (t) => {
  for (const tls of [false, true]) {
    const client = await greeted(t, { tls })
    for (const command of ['MAIL FROM:<a@b.example>', 'RCPT TO:<a@b.example>', 'DATA', 'mail from:<>']) {
      const said = tls ? 'Authentication required' : 'Must issue a STARTTLS command first'
      t.equal(await client.command(command), `530 5.7.0 ${said}`)
    }
  }
})
