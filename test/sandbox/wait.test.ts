import { request } from 'node:http'
import t from 'tap'
import { Waits } from '../../packages/sandbox/src/http/waits.ts'
import { Watchers } from '../../packages/sandbox/src/http/watchers.ts'
import type { Inbox } from '../../packages/sandbox/src/inbox.ts'
import type { InboxEntry } from '../../packages/sandbox/src/inbox-entry.ts'
import type { Finder } from '../../packages/sandbox/src/search/finder.ts'
import { until } from '../helpers/until.ts'
import { mail, startSandbox } from './sandbox.ts'

const sandbox = await startSandbox(t)
interface Found {
  readonly id: string
  readonly to: string
  readonly subject: string
}
interface InVain {
  readonly error: string
  readonly others: number
  readonly newest: readonly Found[]
}

const wait = (query: Record<string, string>, signal?: AbortSignal) =>
  fetch(`${sandbox.url}/messages/wait?${new URLSearchParams(query)}`, signal ? { signal } : {})
const found = async (query: Record<string, string>) => {
  const answer = await wait(query)
  t.equal(answer.status, 200, JSON.stringify(query))
  return (await answer.json()) as Found
}
const inVain = async (query: Record<string, string>) => {
  const answer = await wait({ timeout: '0', ...query })
  t.equal(answer.status, 404, JSON.stringify(query))
  return (await answer.json()) as InVain
}
const store = (to: string, subject: string, body?: string) => sandbox.store(t, mail(`Subject: ${subject}`, body), to)

t.test('a message that is there already is the answer, and the newest of several', async (t) => {
  await store('early@harbor.example', 'First code')
  const second = await store('early@harbor.example', 'Second code')
  t.match(await found({ to: 'early@harbor.example' }), { id: second.id, subject: 'Second code' })
  t.match(await found({ to: 'EARLY@harbor.example', subject: 'first CODE' }), { subject: 'First code' })
})

t.test('a call waits for a message that matches, and others that come meanwhile do not end it', async (t) => {
  const waiting = found({ to: 'late@harbor.example', subject: 'your code' })
  await store('late@harbor.example', 'Welcome')
  await store('other@harbor.example', 'Your code')
  const wanted = await store('late@harbor.example', 'Your code')
  t.equal((await waiting).id, wanted.id)
})

t.test('it waits for words of the body, too', async () => {
  const waiting = found({ q: 'to:body@harbor.example jetty' })
  await store('body@harbor.example', 'Berth', 'At the pier.\r\n')
  const wanted = await store('body@harbor.example', 'Berth', 'At the jetty.\r\n')
  t.equal((await waiting).id, wanted.id)
})

t.test('a message whose body could not be read yet is looked at again', async (t) => {
  const copy = { id: '1', to: 'lena@harbor.example' } as InboxEntry
  const arrivals = new Watchers()
  const looks: (boolean | undefined)[] = [undefined, true]
  const inbox = { list: () => [copy], rowOf: () => ({ message: '1', entries: [copy] as const }) } as unknown as Inbox
  const judge: Finder['judge'] = async (_search, rows) => new Map(rows.map((row) => [row, looks.shift()]))
  const waits = new Waits(inbox, { judge } as Finder, arrivals)
  const signal = new AbortController().signal
  const waiting = waits.wait({ search: [], to: undefined, after: undefined }, { milliseconds: 120_000, signal })
  arrivals.notify()
  t.equal(await waiting, copy)
})

t.test('after a message, the first one that came later is the answer, however late the call is', async (t) => {
  const first = await store('again@harbor.example', 'Code')
  const second = await store('again@harbor.example', 'Code')
  const third = await store('again@harbor.example', 'Code')
  const ask = (after: string) => found({ to: 'again@harbor.example', after })
  t.equal((await ask(first.id)).id, second.id)
  t.equal((await ask(second.id)).id, third.id)
  await inVain({ to: 'again@harbor.example', after: third.id })
  t.equal((await ask(first.receivedAt)).id, first.id, 'or from a time on')
  t.equal((await ask('1h')).id, first.id)
})

t.test(
  'of a message to several, the copy of the recipient is the answer, also if another one came before',
  async (t) => {
    const client = await sandbox.session(t)
    await client.command('MAIL FROM:<desk@ship.example>')
    for (const name of ['one', 'two']) await client.command(`RCPT TO:<${name}@several.example>`)
    await client.command('DATA')
    await client.finish(mail('Subject: Both'))
    const [one, two] = [await found({ to: 'one@several.example' }), await found({ to: 'two@several.example' })]
    t.not(one.id, two.id)
    t.match(await found({ to: 'two@several.example', after: one.id }), { id: two.id })
  },
)

t.test('an address is meant as a whole: that of one test may be a part of that of another', async (t) => {
  await store('11@harbor.example', 'Eleven')
  const { error, others, newest } = await inVain({ to: '1@harbor.example' })
  t.match(error, 'no such message came within 0 s')
  t.match(newest[0], { to: '11@harbor.example', subject: 'Eleven' })
  t.equal(newest.length, 5, 'the newest five are named')
  t.ok(others > 5)
})

t.test('what cannot be meant is refused by name, and not taken for a wait for anything', async (t) => {
  const rows: readonly (readonly [query: string, error: string])[] = [
    [
      'recipient=x@harbor.example',
      'recipient: is unknown to this call, which has to, from, subject, q, after, timeout',
    ],
    ['to=', 'to: must not be empty'],
    ['subject=%20', 'subject: must not be empty'],
    ['to=harbor.example', 'to: must be one whole address'],
    ['to=a@x.example&to=b@x.example', 'to: must be a text'],
    ['q=before:soon', 'q: "before:soon"'],
    [`subject=${'x'.repeat(201)}`, 'subject: '],
    ['after=soon', 'after: must be the id of a message, or a time'],
    ['timeout=121', 'timeout: must be a whole number of seconds, from 0 to 120'],
    ['timeout=-1', 'timeout: must be'],
    ['timeout=1.5', 'timeout: must be'],
  ]
  for (const [query, error] of rows) {
    const answer = await fetch(`${sandbox.url}/messages/wait?${query}`)
    t.equal(answer.status, 400, query)
    t.ok(((await answer.json()) as InVain).error.startsWith(error), query)
  }
})

t.test('pages of other sites cannot wait, and neither can names of other hosts', async (t) => {
  const statusWith = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`${sandbox.url}/messages/wait?timeout=0`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once('error', reject)
        .end()
    })
  t.equal(await statusWith({ 'sec-fetch-site': 'cross-site' }), 403)
  t.equal(await statusWith({ host: 'evil.example' }), 421)
})

t.test(
  'a hundred calls wait at once, further ones are refused, and a client that leaves frees its place',
  async (t) => {
    const leaving = new AbortController()
    const waits = Array.from({ length: 100 }, () =>
      wait({ to: 'nobody@harbor.example', timeout: '120' }, leaving.signal),
    )
    const refused = await until('a refusal', async () => {
      const answer = await wait({ to: 'nobody@harbor.example', timeout: '0' })
      return answer.status === 503 && answer
    })
    t.equal(refused.headers.get('retry-after'), '1')
    t.match(await refused.json(), { error: '100 calls wait for messages already; retry when one of them has ended' })
    leaving.abort()
    for (const one of await Promise.allSettled(waits)) t.equal(one.status, 'rejected')
    await until('a free place', async () => (await wait({ to: 'nobody@harbor.example', timeout: '0' })).status === 404)
  },
)

t.test('the end of the inbox ends the calls that wait', async (t) => {
  const other = await startSandbox(t)
  const waiting = fetch(`${other.url}/messages/wait?timeout=120`)
  const ended = t.rejects(waiting)
  await fetch(`${other.url}/livez`)
  await other.process.stop()
  await ended
})
