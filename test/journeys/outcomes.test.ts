import type { MessageDetails } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { startDns } from '../helpers/dns.ts'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

/** Every part of the service as a process of its own, and the part of the Internet that it sees. */
const dns = await startDns(t, {})
const [mxPort = 0] = await freePorts(1)
const service = await makeService(t, {
  DELIVERY: 'mx',
  MX_PRIVATE_NETWORKS: 'allow',
  DNS_SERVERS: dns.address,
  MX_PORT: String(mxPort),
  // One session a site, so that the order on the wire is the order of the deliveries.
  SITE_CONNECTIONS: '1',
})
const sender = await service.makeSender()
for (const name of ['api', 'relay', 'delivery'] as const) await startProcess(t, name, service.env)

let minutes = 0
let addresses = 0

async function advance(more: number): Promise<void> {
  minutes += more
  await moveClock(service.sql, `${minutes} minutes`)
}

/** A recipient domain with one scripted host. */
async function startSite(domain: string, options: Parameters<typeof startSink>[1] = {}) {
  const sink = await startSink(t, { host: `127.8.0.${++addresses}`, port: mxPort, ...options })
  dns.zones[domain] = { mx: [[10, `mx.${domain}`]] }
  dns.zones[`mx.${domain}`] = { a: [sink.host] }
  return sink
}

async function send(recipient: string): Promise<string> {
  const answer = await sendV2(
    `http://127.0.0.1:${service.config.apiPort}`,
    sender.apiKey,
    v2Body(sender, { personalizations: [{ recipient }] }),
  )
  const id = answer.body.data?.message_id
  if (!id) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
  return id
}

/** The message's story once it fits. */
function story(what: string, id: string, fits: (story: MessageDetails) => boolean): Promise<MessageDetails> {
  return until(
    what,
    async () => {
      const found = await service.core.messages.show(id)
      return found && fits(found) ? found : undefined
    },
    40_000,
  )
}

function inState(id: string, state: string, attempts: number): Promise<MessageDetails> {
  return story(`${state} after ${attempts} attempts`, id, ({ deliveries: [delivery] }) =>
    // The story is read in several statements: the state may be a moment younger than the attempts.
    Boolean(delivery && delivery.state === state && delivery.attempts.length === attempts),
  )
}

function eventsOf({ events }: MessageDetails): (readonly [string, unknown])[] {
  return events.map(({ type, detail }) => [type, detail] as const)
}

function rcptCommands(commands: readonly string[]): string[] {
  return commands.filter((line) => line.startsWith('RCPT'))
}

t.test(
  'a recipient refused permanently bounces at the first attempt, with its event and its conversation',
  async (t) => {
    const sink = await startSite('refusing.example', { rcpt: () => '550 5.1.1 no such user here' })
    const id = await send('nobody@refusing.example')
    const found = await inState(id, 'bounced', 1)
    t.match(found.deliveries[0], { attempt: 1, nextAt: null, finishedAt: Date })
    t.match(found.deliveries[0]?.attempts, [
      {
        attempt: 1,
        outcome: 'bounced',
        indeterminate: false,
        stage: 'rcpt',
        host: 'mx.refusing.example',
        address: sink.host,
        code: 550,
        enhanced: '5.1.1',
        reply: 'no such user here',
      },
    ])
    const steps = found.deliveries[0]?.attempts[0]?.conversation as { step: string; code?: number }[]
    t.match(steps.find(({ step }) => step === 'rcpt')?.code, 550)
    t.match(eventsOf(found), [
      ['processed', null],
      ['bounced', { attempt: 1, code: 550, enhanced: '5.1.1', class: 'bad-mailbox', reply: 'no such user here' }],
    ])
    t.equal(sink.messages.length, 0, 'no content went out')

    await advance(600)
    // Another one: by now the first is suppressed.
    await inState(await send('noone@refusing.example'), 'bounced', 1)
    t.equal(rcptCommands(sink.commands).length, 2, 'the bounced one is never tried again')
  },
)

t.test('mail to a domain with a null MX bounces with 5.1.10, and no connection is made', async (t) => {
  const host = await startSink(t, { host: `127.8.0.${++addresses}`, port: mxPort })
  // The address would do as an implicit MX (RFC 5321 5.1); the null MX forbids it (RFC 7505 3).
  dns.zones['silent.example'] = { mx: [[0, '.']], a: [host.host] }
  const found = await inState(await send('info@silent.example'), 'bounced', 1)
  t.match(found.deliveries[0]?.attempts, [
    { outcome: 'bounced', stage: 'mx', code: 556, enhanced: '5.1.10', host: null },
  ])
  t.match(eventsOf(found).at(-1), ['bounced', { enhanced: '5.1.10', class: 'not-accepting' }])
  t.equal(host.sessions, 0)
})

t.test('mail to a domain that does not exist bounces with 5.1.2', async (t) => {
  const found = await inState(await send('info@nowhere.example'), 'bounced', 1)
  t.match(found.deliveries[0]?.attempts, [
    { outcome: 'bounced', stage: 'mx', code: 550, enhanced: '5.1.2', host: null },
  ])
  t.match(eventsOf(found).at(-1), ['bounced', { enhanced: '5.1.2', class: 'bad-domain' }])
  t.ok(dns.questions.includes('MX nowhere.example'))
})

t.test('mail to a domain whose DNS fails is deferred, and delivered once the DNS answers again', async (t) => {
  const sink = await startSite('flaky.example')
  const zone = dns.zones['flaky.example']
  dns.zones['flaky.example'] = { fails: 'servfail' }
  const id = await send('info@flaky.example')
  const deferred = await inState(id, 'deferred', 1)
  t.match(deferred.deliveries[0]?.attempts, [{ outcome: 'deferred', stage: 'mx', enhanced: '4.4.3', host: null }])
  t.match(eventsOf(deferred).at(-1), ['deferred', { attempt: 1, enhanced: '4.4.3', nextAt: String }])

  await advance(2)
  await inState(id, 'deferred', 2)
  t.equal(sink.sessions, 0)
  dns.zones['flaky.example'] = zone ?? {}
  // The failure is remembered for some seconds, so an attempt may still meet it.
  const delivered = await until(
    'delivery',
    async () => {
      await advance(120)
      await new Promise((resolve) => setTimeout(resolve, 1000))
      const found = await service.core.messages.show(id)
      return found?.deliveries[0]?.state === 'delivered' ? found : undefined
    },
    25_000,
  )
  t.equal(eventsOf(delivered).at(-1)?.[0], 'sent')
  t.strictSame(
    sink.messages.map(({ to }) => to),
    [['info@flaky.example']],
  )
})

t.test('recipients of one message at one site get each their own outcome', async (t) => {
  const verdicts: Record<string, string> = {
    'yes@quay.example': '250 2.1.5 ok',
    'no@quay.example': '550 5.1.1 no such user here',
    'later@quay.example': '451 4.7.1 greylisted',
  }
  const sink = await startSite('quay.example', {
    rcpt: ({ command, before }) => {
      const recipient = /<(.*)>/.exec(command)?.[1] ?? ''
      return recipient === 'later@quay.example' && before > 0 ? '250 2.1.5 ok' : verdicts[recipient]
    },
  })
  const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
  await client.reply()
  await client.logIn(sender.apiKey)
  const from = `desk@${sender.domain}`
  const reply = await client.submit(from, Object.keys(verdicts), `From: ${from}\r\nSubject: Berth 4\r\n\r\nReady.\r\n`)
  const id = /queued as ([0-9a-f]{32})/.exec(reply)?.[1] as string

  const first = await story('three attempts', id, ({ deliveries }) =>
    deliveries.every(({ attempts, state }) => attempts.length === 1 && state !== 'sending'),
  )
  t.match(
    first.deliveries.map(({ recipient, state, attempts }) => [recipient, state, attempts[0]?.code]),
    [
      ['yes@quay.example', 'delivered', 250],
      ['no@quay.example', 'bounced', 550],
      ['later@quay.example', 'deferred', 451],
    ],
  )
  t.strictSame(
    first.events
      .filter(({ recipientNo, type }) => recipientNo !== null && type !== 'processed')
      .map(({ type, recipientNo }) => `${recipientNo} ${type}`)
      .sort(),
    ['0 sent', '1 bounced', '2 deferred'],
  )
  t.strictSame(
    sink.messages.map(({ to }) => to),
    [['yes@quay.example']],
    'only who was accepted got the message',
  )
  t.strictSame(
    rcptCommands(sink.commands).sort(),
    Object.keys(verdicts)
      .map((recipient) => `RCPT TO:<${recipient}>`)
      .sort(),
    'each was asked for once',
  )
  t.equal(sink.sessions, 1, 'in one session')

  await advance(2)
  const last = await story('the second attempt', id, ({ deliveries }) =>
    deliveries.every(({ finishedAt, attempts, attempt }) => finishedAt !== null && attempts.length === attempt),
  )
  t.strictSame(
    last.deliveries.map(({ state, attempts }) => [state, attempts.length]),
    [
      ['delivered', 1],
      ['bounced', 1],
      ['delivered', 2],
    ],
  )
  t.strictSame(
    sink.messages.map(({ to }) => to),
    [['yes@quay.example'], ['later@quay.example']],
    'the deferred one came alone, the others not again',
  )
  const returnPaths = sink.messages.map(({ from }) => from)
  t.equal(new Set(returnPaths).size, 2, 'each has a return path of its own')
})

t.test('a message still deferred after 72 hours expires, with its event, and is not tried again', async (t) => {
  const sink = await startSite('never.example', { rcpt: () => '451 4.2.1 not now' })
  const id = await send('info@never.example')
  await inState(id, 'deferred', 1)
  await advance(71 * 60)
  const late = await inState(id, 'deferred', 2)
  const { nextAt, expiresAt } = late.deliveries[0] ?? {}
  t.ok(nextAt && expiresAt && nextAt <= expiresAt, 'the last attempt is not after the deadline')

  await advance(61)
  const expired = await inState(id, 'expired', 3)
  t.match(expired.deliveries[0], { nextAt: null, finishedAt: Date })
  t.equal(expired.deliveries[0]?.attempts.at(-1)?.outcome, 'deferred')
  t.strictSame(
    expired.events.map(({ type }) => type),
    ['processed', 'deferred', 'deferred', 'expired'],
  )
  t.match(expired.events.at(-1)?.detail, { attempt: 3, code: 451, enhanced: '4.2.1', reply: 'not now' })
  const asked = rcptCommands(sink.commands).length
  await advance(24 * 60)
  await inState(await send('other@never.example'), 'deferred', 1)
  t.equal(rcptCommands(sink.commands).length, asked + 1)
})
