import t from 'tap'
import { Listener, type ListenerHooks } from '../../../../packages/core/src/platform/database/driver/listen.ts'

/** A listener, and the statements on its session, which fail while `isAway` is set. */
function makeListener() {
  const server = {
    isAway: false,
    statements: [] as string[],
    hooks: undefined as ListenerHooks | undefined,
    sessions: 0,
  }
  const listener = new Listener((hooks) => {
    server.hooks = hooks
    server.sessions++
    return {
      unsafe: async (statement) => {
        server.statements.push(statement)
        if (server.isAway) throw new Error('away')
      },
      end: async () => {},
    }
  })
  const lose = async (): Promise<void> => {
    server.hooks?.onclose()
    await settled()
  }
  const beat = async (): Promise<void> => {
    listener.beat()
    await settled()
  }
  return { listener, server, lose, beat }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('all channels are listened to on one session, and each hears its own notifications', async (t) => {
  const { listener, server } = makeListener()
  const heard: string[] = []
  await listener.listen('news', (payload) => heard.push(`news ${payload}`))
  await listener.listen('a "b"', (payload) => heard.push(`other ${payload}`))
  server.hooks?.onnotify('news', '1')
  server.hooks?.onnotify('a "b"', '2')
  server.hooks?.onnotify('unknown', '3')
  t.strictSame(heard, ['news 1', 'other 2'])
  t.strictSame([server.sessions, server.statements], [1, ['listen "news"', 'listen "a ""b"""']])
})

t.test('a channel is given up when the last of those who listen to it leaves', async (t) => {
  const { listener, server } = makeListener()
  const first = await listener.listen('news', () => {})
  const second = await listener.listen('news', () => {})
  server.statements.length = 0
  await first.unlisten()
  await first.unlisten()
  t.strictSame(server.statements, [])
  await second.unlisten()
  t.strictSame(server.statements, ['unlisten "news"'])
})

t.test('who could not listen is told so and hears nothing, but may try again', async (t) => {
  const { listener, server, lose } = makeListener()
  let listened = 0
  const listen = () =>
    listener.listen(
      'news',
      () => {},
      () => listened++,
    )
  server.isAway = true
  await t.rejects(listen(), { message: 'away' })
  server.isAway = false
  await lose()
  t.equal(listened, 0)
  await listen()
  t.equal(listened, 1)
})

t.test('who listens is told whenever notifications may have been missed', async (t) => {
  const { listener, lose } = makeListener()
  let listened = 0
  await listener.listen(
    'news',
    () => {},
    () => listened++,
  )
  await lose()
  await lose()
  t.equal(listened, 3)
})

t.test('each beat says something, and listens again where that has failed', async (t) => {
  const { listener, server, lose, beat } = makeListener()
  let listened = 0
  await beat()
  t.strictSame(server.statements, [], 'no session is opened for it')
  await listener.listen(
    'news',
    () => {},
    () => listened++,
  )
  await beat()
  t.equal(server.statements.at(-1), 'select 1')
  server.isAway = true
  await lose()
  await beat()
  server.isAway = false
  t.equal(listened, 1)
  await beat()
  t.equal(listened, 2)
  await beat()
  t.strictSame([listened, server.statements.at(-1)], [2, 'select 1'])
})

t.test('a pool that has ended does not listen', async (t) => {
  const { listener, server, beat } = makeListener()
  await listener.listen('news', () => {})
  await listener.end()
  await beat()
  await t.rejects(
    listener.listen('news', () => {}),
    { code: 'CONNECTION_ENDED' },
  )
  t.strictSame(server.statements, ['listen "news"'])
})
