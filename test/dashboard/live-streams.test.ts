import t, { type Test } from 'tap'
import { until } from '../helpers/until.ts'
import { openDashboard, type TestVisitor } from './dashboard.ts'
import { withoutSession } from './roles.ts'

const BY = { keyId: null, address: null }

interface Stream {
  readonly status: number
  /** What has arrived. */
  text: string
  ended: boolean
}

async function open(t: Test, url: string, path: string, { cookie }: Pick<TestVisitor, 'cookie'>): Promise<Stream> {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const response = await fetch(`${url}${path}`, { headers: { cookie }, signal: stop.signal })
  const stream: Stream = { status: response.status, text: '', ended: false }
  const read = async () => {
    for await (const chunk of response.body ?? []) stream.text += Buffer.from(chunk as Uint8Array).toString()
    stream.ended = true
  }
  read().catch(() => {})
  return stream
}

t.test('a stream is for members of its account, and has no data, only that something changed', async (t) => {
  const { url, service, owner, member } = await openDashboard(t)
  const ada = await owner()
  const path = `/app/${ada.accountId}/live`
  const stranger = await member((await service.core.accounts.create('souq')).id, 'owner')
  for (const [who, visitor] of Object.entries({ ...withoutSession(url, ada), 'another account': stranger }))
    t.equal((await open(t, url, path, visitor)).status, 404, who)
  for (const visitor of Object.values(withoutSession(url, ada)))
    t.equal((await open(t, url, '/app/live', visitor)).status, 404)
  const stream = await open(t, url, path, ada)
  t.equal(stream.status, 200)
  await until('a beat', () => stream.text.includes('event: beat'))
  t.match(stream.text, /^(?:retry: \d+\n\n|event: \w+\ndata:\n\n)+$/)
})

t.test('a stream ends when its visitor has lost the role, the session or the user', async (t) => {
  const { url, service, owner, member } = await openDashboard(t)
  const { people } = service.core
  const ada = await owner()
  const { accountId } = ada
  const path = `/app/${accountId}/live`
  const losses: Readonly<Record<string, (userId: number) => Promise<unknown>>> = {
    role: (userId) => people.members.remove(accountId, userId, BY),
    session: (userId) => people.sessions.endAll(userId),
    user: (userId) => people.users.disable(userId, BY),
  }
  const losers = await Promise.all(
    Object.entries(losses).map(async ([what, lose]) => {
      const visitor = await member(accountId, 'developer')
      return { what, lose: () => lose(visitor.userId), stream: await open(t, url, path, visitor) }
    }),
  )
  const own = await open(t, url, path, ada)
  for (const { what, stream } of losers) await until(`a beat (${what})`, () => stream.text.includes('event: beat'))
  for (const { lose } of losers) await lose()
  const seen = own.text.length
  for (const { what, stream } of losers) {
    await until(`the end (${what})`, () => stream.ended, 20_000)
    t.match(stream.text, /event: ended\ndata:\n\n$/, what)
  }
  await until('that of a member goes on', () => own.text.length > seen, 20_000)
  t.notOk(own.ended)
})
