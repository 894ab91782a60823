import { readFileSync } from 'node:fs'
import { defaultProviders, type MessageDetails } from '@postrider/core'
import t from 'tap'
import { BEHAVIOURS } from '../../packages/sandbox/src/smtp/behaviours.ts'
import { moveClock } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { CLOSED } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { mail, offer, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)
const MESSAGE = mail('Subject: Berth 4')
const OK = /^250 2\.0\.0 Ok: stored as [0-9a-f]{32}$/
const TAKEN = '250'
let senders = 0

/** What the same delivery meets each time it comes, and how many copies there are in the end. */
const PLAYED: readonly (readonly [local: string, said: readonly (string | RegExp)[], copies: number])[] = [
  ['anybody', [OK, OK], 2],
  ['Bounce', ['550 5.1.1 The mailbox does not exist', /^550 5\.1\.1/], 0],
  ['full', ['552 5.2.2 The mailbox is full', /^552/], 0],
  ['blocked', ['554 5.7.1 The message looks like spam', /^554/], 0],
  ['defer', [/^451 4\.7\.1 Try again later/, /^451/, /^451/], 0],
  ['defer-2', [/^451 4\.7\.1 Greylisted/, /^451/, OK, OK], 2],
  ['defer-0', [OK], 1],
  ['busy', ['421 4.3.2 Too busy, closing', /^421/], 0],
  ['throttle', [/^421 4\.7\.0 \[TSS04\]/, /^421/], 0],
  ['disconnect', [CLOSED, CLOSED], 0],
  ['hangup', [CLOSED, OK], 1],
  ['hangup-stored', [CLOSED, OK], 2],
  ['tls-broken', [OK], 1],
  ['defer-2000', [OK], 1],
  ['bounced', [OK], 1],
]

for (const [local, said, copies] of PLAYED) {
  t.test(`${local}@ plays its part each time the delivery comes`, async (t) => {
    const to = `${local}@harbor.example`
    const from = `return-${++senders}@ship.example`
    for (const expected of said) {
      const client = await sandbox.session(t)
      const reply = await offer(client, from, to)
      if (typeof expected === 'string') t.equal(reply, expected)
      else t.match(reply, expected)
      if (reply.startsWith('421')) t.equal(await client.reply(), CLOSED)
    }
    t.equal((await sandbox.list()).filter((entry) => entry.from === from).length, copies)
  })
}

t.test('slow-4@ answers the final dot late, and another session is not held up', async (t) => {
  const [slow, other] = [await sandbox.session(t), await sandbox.session(t)]
  // Long enough for the other one on a busy machine.
  const startedAt = performance.now()
  let done = false
  const late = offer(slow, 'slow-return@ship.example', 'slow-4@harbor.example').then((reply) => {
    done = true
    return reply
  })
  t.match(await offer(other, 'quick-return@ship.example', 'lena@harbor.example'), OK)
  t.notOk(done)
  t.match(await late, OK)
  t.ok(performance.now() - startedAt >= 3990)
})

t.test('tls-broken@ ends the session over TLS and breaks the next handshake only', async (t) => {
  const first = await sandbox.session(t, { tls: true })
  t.match(await offer(first, 'tls-return@ship.example', 'tls-broken@harbor.example'), /^421 4\.7\.0/)
  const second = await sandbox.session(t)
  await t.rejects(second.startTls())
  t.match(await offer(await sandbox.session(t, { tls: true }), 'tls-return@ship.example', 'lena@harbor.example'), OK)
})

t.test('the recipients of one session are played one by one', async (t) => {
  const client = await sandbox.session(t)
  await client.command('MAIL FROM:<several@ship.example>')
  t.match(await client.command('RCPT TO:<bounce@harbor.example>'), /^550/)
  t.match(await client.command('RCPT TO:<lena@harbor.example>'), TAKEN)
  t.match(await client.command('RCPT TO:<piet@harbor.example>'), TAKEN)
  await client.command('DATA')
  t.match(await client.finish(MESSAGE), OK)
  const entries = (await sandbox.list()).filter(({ from }) => from === 'several@ship.example')
  t.strictSame(
    entries.map(({ to }) => to),
    ['lena@harbor.example', 'piet@harbor.example'],
  )
})

t.test('the README has every behaviour, and no other', (t) => {
  const readme = readFileSync(new URL('../../packages/sandbox/README.md', import.meta.url), 'utf8')
  const told = [...readme.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
    [...(cell as string).matchAll(/`([a-z0-9-]+)@…`|`…@([a-z.]+)`/g)].map(([, local = '', domain = '']) => ({
      local,
      domain,
    })),
  )
  const selected = told.map((recipient) => BEHAVIOURS.filter(({ part, pattern }) => pattern.test(recipient[part])))
  t.ok(selected.every(({ length }) => length === 1))
  t.strictSame([...new Set(selected.flat().map(({ does }) => does))].sort(), BEHAVIOURS.map(({ does }) => does).sort())
  t.end()
})

t.test('each domain that plays a provider has one, with limits of its own', (t) => {
  const domains = BEHAVIOURS.filter(({ part }) => part === 'domain').map(({ pattern }) =>
    pattern.source.replaceAll(/[\^\\$]/g, ''),
  )
  t.strictSame(
    domains.map((domain) => [domain, defaultProviders().ofHost(domain)?.name]),
    [
      ['throttling.test', 'sandbox-throttling'],
      ['greylisting.test', 'sandbox-greylisting'],
      ['slow.test', 'sandbox-slow'],
    ],
  )
  t.end()
})

t.test('through the service every behaviour becomes the outcome the README tells', async (t) => {
  const service = await makeService(t, { DELIVERY: 'sandbox' })
  const sender = await service.makeSender()
  for (const name of ['sandbox', 'api', 'delivery'] as const) await startProcess(t, name, service.env)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const send = async (...locals: string[]): Promise<string> => {
    const personalizations = locals.map((local) => ({ recipient: `${local}@harbor.example` }))
    const sent = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
    return sent.body.data?.message_id as string
  }
  /** The deliveries once each has been attempted so often, or is finished. */
  const attempted = (id: string, times: number): Promise<MessageDetails['deliveries']> =>
    until(`attempt ${times}`, async () => {
      const deliveries = (await service.core.messages.show(id))?.deliveries
      return deliveries?.every(({ attempts, finishedAt }) => finishedAt || attempts.length >= times) && deliveries
    })
  const outcomes = (deliveries: MessageDetails['deliveries']): Record<string, string[]> =>
    Object.fromEntries(
      deliveries.map(({ recipient, attempts }) => [recipient.split('@')[0], attempts.map(({ outcome }) => outcome)]),
    )

  const broken = await send('tls-broken')
  await attempted(broken, 1)
  await moveClock(service.sql, '30 minutes')
  const [delivery] = await attempted(broken, 2)
  t.match(delivery, {
    state: 'delivered',
    attempts: [
      { outcome: 'deferred', tls: /^TLS/ },
      { outcome: 'delivered', tls: null },
    ],
  })

  const played = [
    'lena',
    'bounce',
    'full',
    'blocked',
    'defer-1',
    'defer',
    'busy',
    'throttle',
    'disconnect',
    'hangup',
    'slow-1',
  ]
  const id = await send(...played)
  const first = await attempted(id, 1)
  t.equal(first.find(({ recipient }) => recipient.startsWith('hangup'))?.attempts[0]?.indeterminate, true)
  await moveClock(service.sql, '60 minutes')
  const [twice, refused] = [['deferred', 'deferred'], ['bounced']]
  t.strictSame(outcomes(await attempted(id, 2)), {
    lena: ['delivered'],
    'slow-1': ['delivered'],
    bounce: refused,
    full: refused,
    blocked: refused,
    'defer-1': ['deferred', 'delivered'],
    hangup: ['deferred', 'delivered'],
    defer: twice,
    busy: twice,
    throttle: twice,
    disconnect: twice,
  })
})
