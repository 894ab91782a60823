import t from 'tap'
import { HANG_UP, RESET, type SinkAnswer } from '../helpers/sink.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t)

/** Two hosts: the better one turns us away at first, so the other one gets the message. */
async function twoHosts(t: Parameters<typeof internet.host>[0], atDot: SinkAnswer, kept: boolean) {
  let away = true
  const better = await internet.host(t, { greeting: () => (away ? '421 4.3.2 not now' : undefined) })
  const other = await internet.host(t, {
    dot: () => (away ? atDot : undefined),
    keep: (answer) => (answer === atDot ? kept : true),
  })
  const settle = (): void => {
    away = false
  }
  return { better, other, domain: internet.domain([better, other]), settle }
}

for (const [what, atDot, kept] of [
  ['is closed, the message kept', HANG_UP, true],
  ['is closed, the message lost', HANG_UP, false],
  ['is reset, the message kept', RESET, true],
  ['brings garbage, the message kept', 'sorry?', true],
] as const) {
  t.test(
    `where the connection ${what} after the final dot, the same host gets the same message again, later`,
    async (t) => {
      const { better, other, domain, settle } = await twoHosts(t, atDot, kept)
      const id = await internet.send(`a@${domain}`)
      const first = await internet.inState(id, 'deferred')
      t.match(first.attempts, [
        { outcome: 'deferred', indeterminate: true, stage: 'dot', host: other.name, address: other.host, code: null },
      ])
      t.match((await internet.story(id)).events.at(-1), {
        type: 'deferred',
        detail: { indeterminate: true, host: other.name, attempt: 1 },
      })
      const { wait } = (
        await internet.service.sql<{ wait: number }[]>`
      select extract(epoch from next_at - service_now())::float8 as wait from delivery_queue
       where message_id = ${id}::uuid`
      )[0] as { wait: number }
      t.ok(wait > 290 && wait <= 300, `not before five minutes: ${wait}`)

      settle()
      const asked = better.sessions
      await internet.advance(4)
      // What was sent after the clock moved is delivered: so the queue has been looked at.
      await internet.inState(await internet.send(`b@${domain}`), 'delivered')
      t.equal((await internet.attempted(id)).attempts.length, 1)
      t.equal(better.messages.length, 1, 'the better host is back and takes other mail')
      t.equal(asked, 1)

      await internet.advance(2)
      const second = await internet.inState(id, 'delivered')
      t.match(second.attempts[1], { host: other.name, indeterminate: false, outcome: 'delivered' })
      t.equal(better.messages.length, 1)
      t.equal(other.messages.length, kept ? 2 : 1)
      const [one, again = one] = other.messages
      t.ok(one && again && one.data.equals(again.data), 'octet for octet, Message-ID, Date and signature with it')
      t.equal(again?.from, one?.from)
    },
  )
}

for (const [what, answer] of [
  ['refuses the session', { greeting: () => '421 4.3.2 restarting' }],
  ['closes at MAIL', { mail: () => '421 4.3.2 closing' }],
  ['closes the connection', { rcpt: () => HANG_UP }],
  ['is away', undefined],
] as const) {
  t.test(`a host that may have the message and ${what} when it is requested again is still the only one`, async (t) => {
    let isDown = false
    let away = true
    const better = await internet.host(t, { greeting: () => (away ? '421 4.3.2 not now' : undefined) })
    const down = Object.fromEntries(
      Object.entries(answer ?? {}).map(([stage, say]) => [stage, () => (isDown ? say() : undefined)]),
    )
    const other = await internet.host(t, { ...down, dot: () => (away ? HANG_UP : undefined), keep: () => true })
    const id = await internet.send(`a@${internet.domain([better, other])}`)
    await internet.inState(id, 'deferred')
    away = false
    isDown = true
    if (!answer) await other.close()
    await internet.advance(6)
    const second = await internet.attempted(id, 2)
    t.match(second.attempts[1], { host: other.name, outcome: 'deferred', indeterminate: false })
    const [row] = await internet.service.sql`select only_host from delivery_queue where message_id = ${id}::uuid`
    t.equal(row?.only_host, other.name)
    if (!answer) return
    isDown = false
    await internet.advance(20)
    t.match((await internet.inState(id, 'delivered')).attempts[2], { host: other.name })
    t.equal(better.messages.length, 0, 'no second copy at another host')
  })
}

t.test('421 at the final dot is a plain deferral: the server says that it does not have the message', async (t) => {
  const host = await internet.host(t, { dot: () => '421 4.3.2 going down' })
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'deferred')
  t.match(delivery.attempts, [{ stage: 'dot', code: 421, indeterminate: false }])
})

t.test('when that host is gone by then, the attempt fails and says nothing about the other hosts', async (t) => {
  const { better, other, domain, settle } = await twoHosts(t, HANG_UP, false)
  const id = await internet.send(`a@${domain}`)
  await internet.inState(id, 'deferred')
  settle()
  await other.close()
  await internet.advance(6)
  const second = await internet.attempted(id, 2)
  t.match(second.attempts[1], { outcome: 'deferred', stage: 'connect', host: other.name, indeterminate: false })
  t.equal(better.messages.length, 0)
  await internet.inState(await internet.send(`b@${domain}`), 'delivered')
  t.equal(better.messages.length, 1)
})
