import t from 'tap'
import { HANG_UP, type Sink, type SinkOptions } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { type DeliveryDetails, startInternet, type stepsOf } from './outbox.ts'

const internet = await startInternet(t)
const later = (text = '451 4.3.0 later'): SinkOptions => ({ rcpt: () => text })

interface Named {
  readonly name: string
}

/** A host at whose address nobody listens. */
function dead(): Named {
  const name = internet.newName()
  internet.dns.zones[name] = { a: [internet.newAddress()] }
  return { name }
}

/** Hosts of one preference, in whose order each delivery has its own. */
const equal = (hosts: readonly Named[]): string => internet.domain({ mx: hosts.map(({ name }) => [10, name] as const) })

/** Waits for attempt after attempt until one of them delivers, and answers how many there were. */
async function attemptsOf(id: string, most: number): Promise<DeliveryDetails> {
  for (let attempt = 1; attempt < most; attempt++) {
    const delivery = await internet.attempted(id, attempt)
    if (delivery.finishedAt !== null) return delivery
    await internet.advance(80)
  }
  return internet.attempted(id, most)
}

/** The hosts that each attempt connected to, or tried to. */
const askedBy = ({ attempts }: DeliveryDetails): string[][] =>
  attempts.map(({ conversation }) =>
    (conversation as ReturnType<typeof stepsOf>).flatMap(({ step, text = '' }) =>
      step === 'connect' ? [text.replace(/[ :].*/, '')] : [],
    ),
  )

const STAGES: Readonly<Record<string, SinkOptions>> = {
  '421 at MAIL': { mail: () => ['421 4.3.2 going down'] },
  '451 at MAIL': { mail: () => '451 4.3.0 later' },
  '450 at RCPT': { rcpt: () => '450 4.2.1 mailbox is busy' },
  '452 at RCPT': { rcpt: () => '452 4.3.1 out of disk' },
  '451 4.7.1 at RCPT': { rcpt: () => '451 4.7.1 service is unavailable' },
  '421 at DATA': { data: () => '421 4.3.2 going down' },
  '451 at the final dot': { dot: () => '451 4.3.0 out of memory' },
  '530 at MAIL': { mail: () => '530 5.7.0 authentication required' },
  'the end of the connection at RCPT': { rcpt: () => HANG_UP },
  'the end of the connection at DATA': { data: () => HANG_UP },
}

for (const [what, script] of Object.entries(STAGES)) {
  t.test(`after ${what} the next host gets the mail in the same attempt`, async (t) => {
    const first = await internet.host(t, script)
    const second = await internet.host(t)
    const delivery = await internet.inState(await internet.send(`a@${internet.domain([first, second])}`), 'delivered')
    t.equal(delivery.attempts.length, 1)
    t.match(delivery.attempts[0], { host: second.name, code: 250 })
    t.strictSame(askedBy(delivery), [[first.name, second.name]], 'the attempt tells of both')
    t.equal(second.messages.length, 1)
  })
}

t.test('mail on a kept session goes on to the next host as well', async (t) => {
  let refuses = false
  const first = await internet.host(t, { rcpt: () => (refuses ? '451 4.3.0 later' : undefined) })
  const second = await internet.host(t)
  const domain = internet.domain([first, second])
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  refuses = true
  const delivery = await internet.inState(await internet.send(`b@${domain}`), 'delivered')
  t.match(delivery.attempts, [{ host: second.name }])
})

const OF_ALL_HOSTS = {
  'a greylist': '450 4.2.0 Greylisted, see our page',
  'a time to wait': '451 4.7.1 Please try again in 5 minutes',
  'the rate of mail': '421 4.7.28 unusual rate of mail from your address',
}

for (const [what, reply] of Object.entries(OF_ALL_HOSTS)) {
  t.test(`a reply about ${what} counts for all hosts: the next attempt begins with the same one`, async (t) => {
    let asked = 0
    const first = await internet.host(t, { rcpt: () => (++asked === 1 ? reply : undefined) })
    const second = await internet.host(t)
    const id = await internet.send(`a@${internet.domain([first, second])}`)
    t.match((await internet.inState(id, 'deferred')).attempts, [{ host: first.name }])
    await internet.advance(80)
    const delivery = await internet.inState(id, 'delivered')
    t.match(delivery.attempts, [{ host: first.name }, { host: first.name }])
    t.equal(second.sessions, 0)
  })
}

t.test('two hosts are offered the mail in an attempt, and the next ones by the next attempt', async (t) => {
  const refusing = await Promise.all(Array.from({ length: 5 }, () => internet.host(t, later())))
  const sixth = await internet.host(t)
  const delivery = await attemptsOf(await internet.send(`a@${internet.domain([...refusing, sixth])}`), 3)
  const names = [...refusing, sixth].map(({ name }) => name)
  t.strictSame(askedBy(delivery), [names.slice(0, 2), names.slice(2, 4), names.slice(4)])
  t.match(delivery, { state: 'delivered' })
})

t.test('when all hosts were asked, the next attempt asks them again', async (t) => {
  const asked: string[] = []
  const host = (reply: string): Promise<Sink & Named> =>
    internet.host(t, {
      rcpt: () => {
        asked.push(reply)
        return reply
      },
    })
  const [first, second] = [await host('451 4.3.0 later'), await host('452 4.2.2 mailbox is full')]
  const id = await internet.send(`a@${internet.domain([first, second])}`)
  const deferred = await internet.inState(id, 'deferred')
  t.match(deferred.attempts, [{ host: second.name, code: 452 }], 'the last reply counts')
  await internet.advance(80)
  await internet.attempted(id, 2)
  t.strictSame(
    asked.toSorted().map((reply) => reply.slice(0, 3)),
    ['451', '451', '452', '452'],
  )
})

const POSITIONS: readonly (readonly [hosts: number, live: number, attempts: number])[] = [
  [6, 5, 2],
  [10, 9, 3],
  [10, 6, 3],
  [20, 19, 5],
]

for (const [hosts, live, attempts] of POSITIONS) {
  t.test(`the live host of ${hosts}, number ${live + 1}, gets the mail by attempt ${attempts}`, async (t) => {
    const host = await internet.host(t)
    const all: Named[] = Array.from({ length: hosts }, (_, at) => (at === live ? host : dead()))
    const delivery = await attemptsOf(await internet.send(`a@${internet.domain(all)}`), attempts)
    t.match(delivery, { state: 'delivered' })
    t.ok(askedBy(delivery).every((names) => names.length <= 5))
  })
}

t.test('of twenty hosts of one preference, the live one gets the mail by attempt 5', async (t) => {
  const host = await internet.host(t)
  const domain = equal([host, ...Array.from({ length: 19 }, dead)])
  const ids = await Promise.all([1, 2, 3].map((at) => internet.send(`r${at}@${domain}`)))
  for (const id of ids) t.match(await attemptsOf(id, 5), { state: 'delivered' })
})

t.test('hosts that are away and hosts that refuse the mail are mixed in any way', async (t) => {
  const taking = await internet.host(t)
  const refusing = (): Promise<Sink & Named> => internet.host(t, later())
  const domain = internet.domain([await refusing(), dead(), await refusing(), dead(), dead(), taking])
  const delivery = await attemptsOf(await internet.send(`a@${domain}`), 3)
  t.match(delivery, { state: 'delivered' })
  t.equal(taking.messages.length, 1)
})

t.test('the other addresses of hosts are tried after the first ones of all', async (t) => {
  const host = await internet.host(t)
  internet.dns.zones[host.name] = { a: [internet.newAddress(), host.host] }
  const delivery = await attemptsOf(await internet.send(`a@${internet.domain([host, dead(), dead(), dead()])}`), 3)
  t.match(delivery.attempts.at(-1), { outcome: 'delivered', address: host.host })
})

t.test(
  'after a refusal for now, a second host that refuses for other reasons than the address decides nothing',
  async (t) => {
    const first = await internet.host(t, later())
    const second = await internet.host(t, { rcpt: () => '550 5.7.1 relaying denied' })
    const delivery = await internet.inState(await internet.send(`a@${internet.domain([first, second])}`), 'deferred')
    t.match(delivery.attempts, [{ host: first.name, code: 451 }])
    t.strictSame(askedBy(delivery), [[first.name, second.name]])
  },
)

t.test('a second host that does not know the address decides', async (t) => {
  const first = await internet.host(t, later())
  const second = await internet.host(t, { rcpt: () => '550 5.1.1 no such user' })
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([first, second])}`), 'bounced')
  t.match(delivery.attempts, [{ host: second.name, code: 550 }])
})

t.test('a second host that is away does not hide the reply of the first', async (t) => {
  const first = await internet.host(t, later())
  const domain = internet.domain([first, dead()])
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'deferred')
  t.match(delivery.attempts, [{ host: first.name, code: 451 }])
  const next = await internet.attempted(await internet.send(`b@${domain}`))
  t.match(next.attempts, [{ host: first.name, code: 451 }], 'the site does not count as unreachable')
})

t.test('after a connection lost at end of data no other host is offered the mail', async (t) => {
  const first = await internet.host(t, { dot: () => HANG_UP })
  const second = await internet.host(t)
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([first, second])}`), 'deferred')
  t.match(delivery.attempts, [{ indeterminate: true, host: first.name }])
  t.equal(second.sessions, 0)
})

t.test('hosts whose addresses are not known for now are passed over, five in an attempt', async (t) => {
  const host = await internet.host(t)
  const unknown = Array.from({ length: 6 }, () => {
    const name = internet.newName()
    internet.dns.zones[name] = { fails: 'servfail' }
    return { name }
  })
  const id = await internet.send(`a@${internet.domain([...unknown, host])}`)
  t.match((await internet.attempted(id)).attempts, [{ outcome: 'deferred', enhanced: '4.4.3' }])
  await internet.advance(80)
  t.match(await internet.inState(id, 'delivered'), { attempts: [{}, { host: host.name }] })
})

t.test('mail whose host refuses sessions waits, and the pause quotes how', async (t) => {
  const host = await internet.host(t, { greeting: () => '554 5.7.1 not from your network' })
  const domain = internet.domain([host])
  for (let mail = 1; mail <= 5; mail++) await internet.inState(await internet.send(`r${mail}@${domain}`), 'deferred')
  const id = await internet.send(`r6@${domain}`)
  const pauses = await until('the pause', async () => {
    const all = await internet.service.core.deliveries.limits.overrides()
    return all.filter(({ place }) => place === host.name).slice(0, 1)[0]
  })
  t.match(pauses, { setting: 'pause', rule: 'refused', reason: 'sessions refused: 554 5.7.1 not from your network' })
  await until(
    'it to wait',
    async () =>
      (await internet.service.sql`select 1 from delivery_queue where place = ${host.name}`).length > 0 || undefined,
  )
  t.match(await internet.story(id), { deliveries: [{ state: 'queued', attempt: 0, attempts: [] }] })
  t.equal(host.sessions, 5)
})
