import t from 'tap'
import { HANG_UP, type SinkAnswer, type SinkOptions } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet, stepsOf } from './outbox.ts'
import { startRawServer, talkSmtp } from './raw-server.ts'

const internet = await startInternet(t, { SITE_CONNECTIONS: '1' })

/** The scripts of a host by the stage they answer at. */
const STAGES = {
  greeting: 'greeting',
  ehlo: 'ehlo',
  mail: 'mail',
  rcpt: 'rcpt',
  data: 'data',
  dot: 'dot',
} as const satisfies Record<string, keyof SinkOptions>
type StageName = keyof typeof STAGES

function saying(stage: StageName, answer: SinkAnswer): SinkOptions {
  return { [STAGES[stage]]: () => answer }
}

const REPLIES: readonly {
  stage: StageName
  reply: string
  state: string
  code: number
  enhanced: string
  text: string
}[] = (['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'] as const).flatMap((stage) => [
  {
    stage,
    reply: '451 4.3.2 come back later',
    state: 'deferred',
    code: 451,
    enhanced: '4.3.2',
    text: 'come back later',
  },
  { stage, reply: '421 closing', state: 'deferred', code: 421, enhanced: '', text: 'closing' },
  {
    stage,
    reply: '554 5.7.1 not from you',
    // What is said before mail was offered is about the session, not about the mail.
    state: stage === 'greeting' || stage === 'ehlo' ? 'deferred' : 'bounced',
    code: 554,
    enhanced: '5.7.1',
    text: 'not from you',
  },
])

for (const { stage, reply, state, ...told } of REPLIES) {
  t.test(`"${reply}" at ${stage} makes the delivery ${state}, and the attempt shows it all`, async (t) => {
    const host = await internet.host(t, saying(stage, reply))
    const id = await internet.send(`a@${internet.domain([host])}`)
    const delivery = await internet.inState(id, state)
    const { text, ...codes } = told
    t.match(delivery.attempts, [
      { outcome: state, stage, host: host.name, address: host.host, tls: null, reply: text, indeterminate: false },
    ])
    t.equal(delivery.attempts[0]?.code, codes.code)
    t.equal(delivery.attempts[0]?.enhanced ?? '', codes.enhanced)
    t.match(
      stepsOf(delivery).find(({ step, code }) => step === stage && code === codes.code),
      { text },
    )
    t.ok(stepsOf(delivery).every(({ ms }) => ms >= 0 && ms < 30_000))
    const event = (await internet.story(id)).events.at(-1)
    t.match(event, { type: state, detail: { attempt: 1, host: host.name, code: codes.code, reply: text } })
  })
}

for (const [stage, reply] of [
  ['mail', '200 ok'],
  ['mail', '251 ok'],
  ['rcpt', '200 ok'],
] as const) {
  t.test(`"${reply}" at ${stage} is a yes`, async (t) => {
    const host = await internet.host(t, saying(stage, reply))
    await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  })
}

t.test(
  '552 at RCPT is a temporary failure where it is about the number of recipients, else a permanent one',
  async (t) => {
    for (const [reply, state] of [
      ['552 too many recipients', 'deferred'],
      ['552 5.5.3 Too many rcpts in this session', 'deferred'],
      ['552 5.2.2 mailbox full', 'bounced'],
    ] as const) {
      const host = await internet.host(t, saying('rcpt', reply))
      await internet.inState(await internet.send(`a@${internet.domain([host])}`), state)
    }
  },
)

for (const stage of ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const) {
  t.test(`a connection cut at ${stage} defers, and does not count as delivered`, async (t) => {
    const host = await internet.host(t, saying(stage, HANG_UP))
    const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'deferred')
    t.match(delivery.attempts, [
      { outcome: 'deferred', stage, code: null, enhanced: '4.4.1', host: host.name, indeterminate: false },
    ])
    t.match(
      stepsOf(delivery).find(({ step, code }) => step === stage && code === undefined),
      { text: 'closed' },
    )
  })
}

t.test('a server that refuses EHLO is greeted with HELO and gets plain commands', async (t) => {
  const host = await internet.host(t, {
    ehlo: ({ command }) => (command.startsWith('EHLO') ? '502 5.5.1 what is that?' : undefined),
  })
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  t.strictSame(
    stepsOf(delivery).map(({ step, code }) => [step, code]),
    [
      ['connect', undefined],
      ['greeting', 220],
      ['ehlo', 502],
      ['ehlo', 250],
      ['mail', 250],
      ['rcpt', 250],
      ['data', 354],
      ['dot', 250],
    ],
  )
  t.match(
    host.commands.find((command) => command.startsWith('MAIL')),
    /^MAIL FROM:<[^>]+>$/,
  )
})

t.test('of a hundred recipients in one session each gets its own outcome', async (t) => {
  const host = await internet.host(t, {
    rcpt: ({ command }) => {
      if (command.includes('<r17@')) return '450 4.2.1 busy'
      return command.includes('<r54@') ? '550 5.1.1 no such user' : undefined
    },
  })
  const domain = internet.domain([host])
  const personalizations = Array.from({ length: 100 }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const id = await internet.send('', { personalizations })
  // One after another: 55 ms each while other tests run.
  await until(
    'all outcomes',
    async () =>
      (await internet.story(id)).deliveries.every(({ state }) => ['delivered', 'bounced', 'deferred'].includes(state)),
    40_000,
  )
  const { deliveries } = await internet.story(id)
  const others = deliveries.filter(({ state }) => state !== 'delivered')
  t.match(others, [
    { recipient: `r17@${domain}`, state: 'deferred' },
    { recipient: `r54@${domain}`, state: 'bounced' },
  ])
  t.equal(others.length, 2)
  t.equal(new Set(host.messages.flatMap(({ to }) => to)).size, 98)
  t.equal(host.messages.length, 98)
  t.equal(host.sessions, 1)
  t.equal(host.commands.filter((command) => command === 'RSET').length, 2, 'one after each refusal')
})

t.test('a refusal at the final dot leaves the session fit for the next message', async (t) => {
  const host = await internet.host(t, {
    dot: ({ message }) => (message.to[0]?.startsWith('no@') ? '550 5.7.1 spam' : undefined),
  })
  const domain = internet.domain([host])
  const id = await internet.send('', {
    personalizations: [{ recipient: `no@${domain}` }, { recipient: `yes@${domain}` }],
  })
  await internet.inState(id, 'bounced', 0)
  await internet.inState(id, 'delivered', 1)
  t.equal(host.sessions, 1)
})

t.test('a server without PIPELINING gets one command at a time', async (t) => {
  let together = 0
  const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) => {
    let inData = false
    socket.on('data', (chunk) => {
      const text = chunk.toString()
      if (!inData && text.split('\r\n').length > 2) together++
      inData = text.startsWith('DATA')
    })
    talkSmtp(socket, undefined, ['SIZE'])
  })
  await internet.inState(await internet.send(`a@${internet.domain({ a: [server.host] })}`), 'delivered')
  t.equal(together, 0)
})

t.test('a server with PIPELINING gets MAIL, RCPT and DATA in one go', async (t) => {
  const chunks: string[] = []
  const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) => {
    socket.on('data', (chunk) => void chunks.push(chunk.toString()))
    talkSmtp(socket, undefined, ['PIPELINING'])
  })
  const id = await internet.send(`a@${internet.domain({ a: [server.host] })}`)
  await internet.inState(id, 'delivered')
  t.ok(chunks.some((chunk) => /^MAIL [^\r]+\r\nRCPT [^\r]+\r\nDATA\r\n$/.test(chunk)))
  const [attempt] = (await internet.service.core.messages.show(id))?.deliveries[0]?.attempts ?? []
  const steps = attempt?.conversation as { step: string; together?: boolean }[]
  t.strictSame(
    steps.filter(({ together }) => together).map(({ step }) => step),
    ['rcpt', 'data'],
    'their durations overlap with that of MAIL',
  )
})

t.test(
  'a pipelining server that takes DATA although it refused the recipient gets an empty message, and no mail',
  async (t) => {
    const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
      talkSmtp(socket, (line) => (line.startsWith('RCPT TO:<no@') ? '550 5.1.1 no\r\n' : undefined), ['PIPELINING']),
    )
    const domain = internet.domain({ a: [server.host] })
    const id = await internet.send('', {
      personalizations: [{ recipient: `no@${domain}` }, { recipient: `yes@${domain}` }],
    })
    t.match((await internet.inState(id, 'bounced', 0)).attempts, [{ stage: 'rcpt', code: 550 }])
    await internet.inState(id, 'delivered', 1)
    t.equal(server.sockets.length, 1)
    t.equal(server.received().split('Berth 4').length - 1, 1, 'the message itself was sent once')
  },
)

t.test('a message larger than the announced SIZE bounces with 5.3.4 and is never offered', async (t) => {
  const host = await internet.host(t, { extensions: ['PIPELINING', 'SIZE 1000'] })
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'bounced')
  t.match(delivery.attempts, [{ stage: 'mail', code: 552, enhanced: '5.3.4', host: host.name }])
  t.notOk(host.commands.some((command) => /^(MAIL|DATA)/.test(command)))
})

for (const limit of ['SIZE', 'SIZE 0', 'SIZE many', 'SIZE 99999999999999999999']) {
  t.test(`"${limit}" is no limit`, async (t) => {
    const host = await internet.host(t, { extensions: [limit] })
    await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
    const size = /SIZE=(\d+)/.exec(host.commands.find((command) => command.startsWith('MAIL')) ?? '')?.[1]
    t.equal(Number(size), host.messages[0]?.data.length, 'the announced size is the real one')
  })
}

t.test('a non-ASCII address bounces with 5.6.7 where SMTPUTF8 is not offered', async (t) => {
  const host = await internet.host(t, { extensions: ['8BITMIME'] })
  const delivery = await internet.inState(await internet.send(`jürgen@${internet.domain([host])}`), 'bounced')
  t.match(delivery.attempts, [{ stage: 'mail', code: 550, enhanced: '5.6.7' }])
  t.notOk(host.commands.some((command) => command.startsWith('MAIL')))
})

t.test('a non-ASCII address goes through with SMTPUTF8, and an ASCII one does not ask for it', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain([host])
  await internet.inState(await internet.send(`jürgen@${domain}`), 'delivered')
  await internet.inState(await internet.send(`jorgen@${domain}`), 'delivered')
  t.match(host.messages, [{ to: [`jürgen@${domain}`] }, { to: [`jorgen@${domain}`] }])
  const mails = host.commands.filter((command) => command.startsWith('MAIL'))
  t.match(mails[0], / SMTPUTF8$/)
  t.notMatch(mails[1], 'SMTPUTF8')
})

t.test('lines that begin with dots arrive as they were', async (t) => {
  const host = await internet.host(t)
  const content = ['<p>.', '.', '..', '...end', '.', 'QUIT', '.</p>'].join('\r\n')
  await internet.inState(await internet.send(`a@${internet.domain([host])}`, { content }), 'delivered')
  const text = host.messages[0]?.data.toString() ?? ''
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4), `${content}\r\n`)
})

for (const [what, answer] of [
  ['is cut', HANG_UP],
  ['gets 421', '421 4.4.2 idle for too long'],
] as const) {
  t.test(`a kept session that ${what} at the next message costs that message nothing`, async (t) => {
    const host = await internet.host(t, {
      mail: ({ session, message }) => (session === 1 && host.messages.length === 1 && message ? answer : undefined),
    })
    const domain = internet.domain([host])
    await internet.inState(await internet.send(`a@${domain}`), 'delivered')
    const delivery = await internet.inState(await internet.send(`b@${domain}`), 'delivered')
    t.equal(delivery.attempts.length, 1)
    t.equal(host.sessions, 2)
    t.strictSame(
      host.messages.map(({ session }) => session),
      [1, 2],
    )
  })
}

for (const farewell of ['', '421 4.4.2 idle for too long\r\n']) {
  t.test(
    `a server that closes a kept session ${farewell ? 'with a 421' : 'silently'} gets the next message on a new one`,
    async (t) => {
      const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
        talkSmtp(socket),
      )
      const domain = internet.domain({ a: [server.host] })
      await internet.inState(await internet.send(`a@${domain}`), 'delivered')
      server.sockets[0]?.end(farewell)
      const delivery = await internet.inState(await internet.send(`b@${domain}`), 'delivered')
      t.equal(delivery.attempts.length, 1)
      t.equal(server.sockets.length, 2)
    },
  )
}

for (const [reply, state] of [
  ['552 5.3.4 too much', 'bounced'],
  ['452 4.3.1 no room', 'deferred'],
  ['421 4.3.2 going down', 'deferred'],
] as const) {
  t.test(`"${reply}" before the message has ended makes the delivery ${state}`, async (t) => {
    const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
      talkSmtp(socket, (line) => (line === 'DATA' ? `354 go ahead\r\n${reply}\r\n` : undefined)),
    )
    const id = await internet.send(`a@${internet.domain({ a: [server.host] })}`)
    t.match((await internet.inState(id, state)).attempts, [
      { stage: 'data', code: Number(reply.slice(0, 3)), reply: reply.slice(10), indeterminate: false },
    ])
  })
}

t.test('"250" before the message has ended is not taken for delivery', async (t) => {
  const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
    talkSmtp(socket, (line) => (line === 'DATA' ? '354 go ahead\r\n250 2.0.0 taken\r\n' : undefined)),
  )
  const id = await internet.send(`a@${internet.domain({ a: [server.host] })}`)
  t.match((await internet.inState(id, 'deferred')).attempts, [{ stage: 'data', indeterminate: false }])
})

t.test('what follows the reply to the final dot does not take that reply back', async (t) => {
  const server = await startRawServer(t, { host: internet.newAddress(), port: internet.port }, (socket) =>
    talkSmtp(socket, (line) => (line === '.' ? '250 2.0.0 taken\r\n\r\nwhat?\r\n' : undefined)),
  )
  const delivery = await internet.inState(
    await internet.send(`a@${internet.domain({ a: [server.host] })}`),
    'delivered',
  )
  t.equal(delivery.attempts.length, 1)
})
