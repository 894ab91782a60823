import { request } from 'node:http'
import t from 'tap'
import { acceptMessage } from '../../core/submission.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { isInTime } from '../../helpers/pace.ts'
import { freePorts } from '../../helpers/ports.ts'
import { startProcess } from '../../helpers/processes.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { asForm, call, FORM, JSON_TYPE } from '../call.ts'
import { addPast } from './history.ts'

interface Entry extends Record<string, unknown> {
  readonly number: number
  readonly id: string
  readonly type: string
}

interface Page {
  readonly data: readonly Entry[]
  readonly next: number
  readonly last: number
  readonly oldest: number
}

const service = await makeService(t)
const url = await service.openApi()

async function feed({ apiKey }: Sender, query: string, base = url): Promise<Page> {
  const { status, json, text } = await call(base, {
    method: 'GET',
    path: `/v2/events/feed?${query}`,
    headers: { api_key: apiKey },
  })
  if (status !== 200) throw new Error(text)
  return json as unknown as Page
}

async function addEvents({ accountId }: Sender, count: number, at = 'service_now()', type = 'domain'): Promise<void> {
  await service.sql`
    insert into events (occurred_at, account_id, type)
    select ${service.sql.unsafe(at)}, ${accountId}, ${type} from generate_series(1, ${count})`
}

const numbersOf = ({ data }: Page): number[] => data.map(({ number }) => number)
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1)

t.test('an account reads what happened, in order, with the numbers and words a consumer goes by', async (t) => {
  const sender = await service.makeSender()
  const id = await addPast(service, sender, {
    acceptedAt: '2026-11-16T10:00:00Z',
    tags: ['berth'],
    transactionBase: '18014398509481992',
    deliveries: [
      {
        reference: 'order-1',
        finishedAt: '2026-11-16T10:00:02Z',
        events: [
          {
            type: 'opened',
            at: '2026-11-16T10:01:00Z',
            detail: { first: true, ip: '192.0.2.9', userAgent: 'Mozilla' },
          },
          { type: 'clicked', at: '2026-11-16T10:01:01Z', detail: { machine: 'gateway', url: 'https://ship.example/' } },
          { type: 'complained', at: '2026-11-16T10:02:00Z' },
        ],
      },
    ],
  })
  await numberEvents(service)
  const page = await feed(sender, 'after=0')
  const { last } = page
  t.strictSame(numbersOf(page), upTo(last))
  t.match(page, { next: last, oldest: 1, message: 'Success', error_info: null })
  const own = page.data.filter(({ type }) => type !== 'domain')
  const about = {
    trid: 18014398509481992,
    messageId: id.replaceAll('-', ''),
    email: 'lena@harbor.example',
    fromaddress: `desk@${sender.domain}`,
    xapiheader: 'order-1',
    tags: 'berth',
  }
  t.match(own, [
    { type: 'processed', time: '2026-11-16T10:00:00.000Z', ...about },
    { type: 'sent', time: '2026-11-16T10:00:02.000Z', ...about },
    { type: 'opened', ip: '192.0.2.9', first: true, ...about },
    { type: 'clicked', machine: 'gateway', url: 'https://ship.example/', ...about },
    { type: 'spam', ...about },
  ])
  t.equal(new Set(page.data.map((entry) => entry.id)).size, last)
  const raw = await call(url, { path: '/v2/events/feed', headers: { api_key: sender.apiKey } })
  t.match(raw.text, '"trid":18014398509481992,')
})

t.test('pages of any size and of some types lead from one to the next, by query, JSON and form', async (t) => {
  const sender = await service.makeSender()
  await addEvents(sender, 30)
  await addEvents(sender, 5, 'service_now()', 'bounced')
  await numberEvents(service)
  const { last } = await feed(sender, 'after=0')
  const seen: number[] = []
  for (let after = 0; after < last; ) {
    const page = await feed(sender, `after=${after}&limit=7`)
    t.ok(page.data.length <= 7)
    seen.push(...numbersOf(page))
    after = page.next
  }
  t.strictSame(seen, upTo(last))
  const ask = { after: 0, types: 'Bounced,spam', limit: 100_000 }
  const path = '/v2/events/feed'
  const headers = { api_key: sender.apiKey }
  for (const { json } of [
    await call(url, { path, headers: { ...headers, ...JSON_TYPE }, body: ask }),
    await call(url, { path, headers: { ...headers, ...FORM }, body: asForm(ask) }),
    await call(url, { path: `/v2.1/events/feed?${asForm(ask)}`, method: 'GET', headers }),
  ]) {
    t.match(json, { next: last, last })
    t.equal((json?.data as Entry[] | undefined)?.length, 5)
  }
  for (const query of ['types=nope', 'after=-1', 'after=x', 'wait=-1', 'limit=x']) {
    const { status, json } = await call(url, { method: 'GET', path: `${path}?${query}`, headers })
    t.match([status, json], [400, { error_info: { error_code: 113 } }], query)
  }
  const { status } = await call(url, { path, headers: { ...headers, ...JSON_TYPE }, body: { after: 1e300 } })
  t.equal(status, 400, 'a number that no event will have')
})

t.test('a request waits for the next event, and gets it as soon as it has its number', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const { last } = await feed(sender, 'after=0')
  const began = performance.now()
  const waiting = feed(sender, `after=${last}&wait=20`)
  const others = feed(sender, `after=${last}&wait=20&types=sent`)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await addEvents(sender, 1)
  await numberEvents(service)
  const page = await waiting
  t.strictSame([numbersOf(page), page.next], [[last + 1], last + 1])
  await addEvents(sender, 1, 'service_now()', 'sent')
  await numberEvents(service)
  t.match(await others, { data: [{ number: last + 2, type: 'sent' }], next: last + 2 }, 'who wants others waits on')
  t.ok(isInTime(began, 15_000))
})

t.test('a key that was revoked while it waited gets nothing of what has happened since', async (t) => {
  const sender = await service.makeSender()
  const { auth } = service.core
  for (const path of ['/v2/events/feed?', '/v2/webhooks/listen?events=sent&']) {
    await numberEvents(service)
    const { last } = await feed(sender, 'after=0')
    const { key, secret } = await auth.createKey({ accountId: sender.accountId })
    const waiting = call(url, { method: 'GET', path: `${path}after=${last}&wait=20`, headers: { api_key: secret } })
    // This call came later, so that the other one waits.
    await feed(sender, 'after=0')
    await auth.revokeKey(key.id)
    await addEvents(sender, 1, 'service_now()', 'sent')
    await numberEvents(service)
    t.match(await waiting, { status: 401, json: { error_info: { error_code: 101 } } }, path)
  }
})

t.test('a wait without an event ends in time, with nothing', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const { last } = await feed(sender, 'after=0')
  const began = performance.now()
  t.match(await feed(sender, `after=${last}&wait=1`), { data: [], next: last, last, oldest: 1 })
  t.ok(performance.now() - began >= 990)
})

t.test(
  'five of an account wait at a time; the sixth gets a response at once, and one that hangs up no longer waits',
  async (t) => {
    const sender = await service.makeSender()
    await numberEvents(service)
    const { last } = await feed(sender, 'after=0')
    const gone = new AbortController()
    const { signal } = gone
    const path = `/v2/events/feed?after=${last}&wait=30`
    const hang = (): void => {
      const hanging = request(`${url}${path}`, { headers: { api_key: sender.apiKey }, signal })
      // Answered at once, as a question of this test's stood in its place: once more.
      hanging.on('response', (response) => response.resume().on('end', () => signal.aborted || hang()))
      hanging.on('error', () => {})
      hanging.end()
    }
    for (let number = 0; number < 5; number++) hang()
    const quick = async (): Promise<boolean> => {
      const began = performance.now()
      await feed(sender, `after=${last}&wait=1`)
      return performance.now() - began < 900
    }
    await until('five to wait', quick)
    gone.abort()
    await until('them to be gone', async () => !(await quick()))
    t.pass()
  },
)

t.test('events that are no longer kept show as a gap, and not as if they never were', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  await addEvents(sender, 20, "service_now() - interval '7 days'")
  await numberEvents(service)
  const { last: gone } = await feed(sender, 'after=0')
  await addEvents(sender, 3)
  await numberEvents(service)
  const { accountId } = sender
  // As a partition of events goes, with its pages.
  await service.sql`delete from events where account_id = ${accountId} and occurred_at < service_now() - interval '6 days'`
  await service.sql`delete from event_pages where account_id = ${accountId} and first_number + count - 1 <= ${gone}`
  const page = await feed(sender, 'after=1')
  t.match(page, { oldest: gone + 1, last: gone + 3, next: gone + 3 })
  t.strictSame(numbersOf(page), [gone + 1, gone + 2, gone + 3])
  await service.sql`delete from events where account_id = ${accountId}`
  t.match(
    await feed(sender, 'after=1'),
    { data: [], oldest: gone + 4, last: gone + 3, next: gone + 3 },
    'nor when all are',
  )
})

t.test('a process that stops answers who waits at once, and comes to its end', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const [port] = await freePorts(1)
  const api = await startProcess(t, 'api', { ...service.env, API_PORT: String(port) })
  const { last } = await feed(sender, 'after=0')
  const base = `http://127.0.0.1:${port}`
  let stopping = false
  // As many as may wait: they do once another one need not. That one may have come before the last of them, which is then answered at once.
  const wait = async (): Promise<Page> => {
    for (;;) {
      const page = await feed(sender, `after=${last}&wait=30`, base)
      if (stopping) return page
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const waiting = Array.from({ length: 5 }, wait)
  await until('five to wait', async () => {
    const asked = performance.now()
    await feed(sender, `after=${last}&wait=1`, base)
    return performance.now() - asked < 900
  })
  const began = performance.now()
  stopping = true
  t.equal(await api.stop(), 0)
  for (const page of await Promise.all(waiting)) t.match(page, { data: [], next: last })
  t.ok(isInTime(began, 10_000))
})

t.test('a consumer misses nothing while ten writers write and processes die', async (t) => {
  const sender = await service.makeSender()
  const ports = await freePorts(2)
  const apis = await Promise.all(
    ports.map((port) => startProcess(t, 'api', { ...service.env, API_PORT: String(port) })),
  )
  // They number the events, and add some of their own: nobody listens where they deliver to.
  const workers = [await startProcess(t, 'delivery', service.env), await startProcess(t, 'delivery', service.env)]
  let writing = true
  const got: Entry[] = []
  let after = 0
  const read = async (): Promise<void> => {
    for (let turn = 0; ; turn++) {
      const base = `http://127.0.0.1:${ports[turn % 2]}`
      const page = await feed(sender, `after=${after}&wait=2&limit=50`, base).catch(() => undefined)
      if (!page) continue
      got.push(...page.data)
      after = page.next
      if (!writing && page.data.length === 0 && after === page.last && (await allNumbered())) return
    }
  }
  const allNumbered = async (): Promise<boolean> => {
    const [left] = await service.sql`
      select from events where account_id = ${sender.accountId}
         and transaction > (select transaction from event_cursors where name = 'numbers') limit 1`
    return left === undefined
  }
  const reading = read()
  const write = async (): Promise<void> => {
    for (let round = 0; round < 15; round++) await acceptMessage(service, sender)
  }
  const written = Promise.all(Array.from({ length: 10 }, write))
  await until('a first page', () => got.length > 20)
  workers[0]?.kill('SIGKILL')
  apis[0]?.kill('SIGKILL')
  await written
  writing = false
  await workers[1]?.stop()
  await numberEvents(service)
  await reading
  const kept = await service.sql<{ id: string }[]>`select id from events where account_id = ${sender.accountId}`
  t.strictSame(
    got.map(({ number }) => number),
    upTo(got.length),
  )
  t.strictSame(new Set(got.map(({ id }) => id)), new Set(kept.map(({ id }) => String(id))))
  t.ok(got.length >= 150, `${got.length} events`)
})
