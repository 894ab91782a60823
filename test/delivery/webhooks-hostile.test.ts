import { createServer } from 'node:net'
import t from 'tap'
import { isInTime } from '../helpers/pace.ts'
import { onBatches, type Reaction, startReceiver } from '../helpers/receiver.ts'
import { until } from '../helpers/until.ts'
import { addEvents, addWebhook, idsIn, startTelling } from './webhook-worker.ts'

const endless: Reaction = (_request, response) => {
  response.writeHead(500)
  const drip = setInterval(() => response.write('x'.repeat(100)), 20)
  response.on('close', () => clearInterval(drip))
}
const huge: Reaction = (_request, response) => {
  response.writeHead(500, { 'content-length': String(2 ** 30) })
  const piece = Buffer.alloc(65_536)
  const pour = () => {
    while (!response.destroyed && response.write(piece));
    response.once('drain', pour)
  }
  pour()
}
/** Header fields, one after another, without an end. */
const trickle: Reaction = (_request, response) => {
  response.socket?.write('HTTP/1.1 200 OK\r\n')
  const drip = setInterval(() => response.socket?.write('x: y\r\n'), 200)
  response.on('close', () => clearInterval(drip))
}
const gzipBomb: Reaction = (_request, response) => {
  response.writeHead(500, { 'content-encoding': 'gzip' })
  response.end(Buffer.alloc(1_000_000, 0x1f))
}

t.test(
  'whatever a receiver answers, it is a failure told in a sentence, and others are not kept waiting',
  async (t) => {
    const service = await startTelling(t)
    const sender = await service.makeSender()
    const hostile: [string, Reaction, RegExp][] = [
      ['never ending', endless, /^received status 500$/],
      ['huge', huge, /^received status 500$/],
      ['a bomb', gzipBomb, /^received status 500$/],
      ['many headers', (_r, s) => s.writeHead(200, { 'x-a': 'a'.repeat(20_000) }).end(), /too many headers/],
      [
        '10 MB of header',
        (_r, s) => s.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(10_000_000)}`),
        /too many headers/,
      ],
      ['a header that trickles', trickle, /no response within 10 s/],
      ['closes', (_r, s) => s.socket?.destroy(), /closed without a response/],
      ['a redirect', (_r, s) => s.writeHead(307, { location: '/inside' }).end(), /^received status 307; redirects/],
      ['no HTTP', (_r, s) => s.socket?.end('SSH-2.0-x\r\n\r\n'), /not HTTP|closed without/],
      [
        'another protocol',
        (_r, s) => s.socket?.write('HTTP/1.1 101 x\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
        /protocol/,
      ],
      ['silent', () => {}, /no response within 10 s/],
    ]
    const start = async ([what, reaction, problem]: (typeof hostile)[number]) => {
      const owner = await service.makeSender()
      const receiver = await startReceiver(t, onBatches(reaction))
      const { id } = await addWebhook(service, owner, receiver.url)
      return { what, owner, id, problem, receiver }
    }
    const webhooks = await Promise.all(hostile.map(start))
    const good = await startReceiver(t)
    await addWebhook(service, sender, good.url)
    for (const { owner } of webhooks) await addEvents(service, owner, 300)
    await until('all of them are asked', () => webhooks.every(({ receiver }) => receiver.batches().length > 0))
    for (let round = 1; round <= 5; round++) {
      const started = performance.now()
      await addEvents(service, sender, 10)
      await until('the good one is told', () => idsIn(good.batches()).length === 10 * round)
      t.ok(isInTime(started, 4000), 'beside eleven that trouble')
    }
    for (const { what, owner, id, problem, receiver } of webhooks) {
      const shown = await until(
        `${what} is noted`,
        async () => {
          const webhook = await service.core.webhooks.show(owner.accountId, id)
          return webhook.problem !== null && webhook
        },
        20_000,
      )
      t.match(shown.problem, problem, what)
      t.notOk(
        receiver.requests.some(({ path }) => path === '/inside'),
        'no redirect is followed',
      )
    }
  },
)

t.test('an answer of any length costs a few kilobytes', async (t) => {
  let written = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
      const piece = Buffer.alloc(65_536)
      const pour = () => {
        while (!socket.destroyed && written < 2 ** 28 && socket.write(piece)) written += piece.length
        socket.once('drain', pour)
      }
      pour()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const { port } = server.address() as { port: number }
  const { id } = await addWebhook(service, sender, `http://127.0.0.1:${port}/`)
  await service.core.webhooks.test(sender.accountId, id)
  t.ok(written < 16 * 1024 * 1024, `${written} octets went into the sockets' buffers before we were gone`)
})

t.test('slow receivers of many subaccounts leave room for those of others', async (t) => {
  const service = await startTelling(t)
  const [parent, sender] = [await service.makeSender(), await service.makeSender()]
  const account = (await service.core.accounts.list()).find(({ id }) => id === parent.accountId)
  let [open, most] = [0, 0]
  const silent = await startReceiver(
    t,
    onBatches((_request, response) => {
      most = Math.max(most, ++open)
      response.on('close', () => open--)
    }),
  )
  const credit = { password: undefined, creditType: 'unlimited' } as const
  for (let at = 0; at < 21; at++) {
    const own = { username: `sub${at}`, email: `sub${at}@ship.example`, ...credit }
    await service.core.subaccounts.create(account as NonNullable<typeof account>, own)
  }
  const subaccounts = await service.sql<{ id: number }[]>`select id from accounts where parent_id = ${parent.accountId}`
  for (const { id } of subaccounts) {
    const owner = { ...parent, accountId: id }
    for (let number = 0; number < 10; number++) await addWebhook(service, owner, silent.url)
  }
  const good = await startReceiver(t)
  await addWebhook(service, sender, good.url)
  for (const { id } of subaccounts) await addEvents(service, { ...parent, accountId: id }, 1)
  await until('the slow ones have their part', () => silent.batches().length >= 50)
  await addEvents(service, sender, 10)
  await until('the good one is told', () => idsIn(good.batches()).length === 10, 5000)
  t.ok(most < 100, `${most} requests to the slow ones at once`)
})
