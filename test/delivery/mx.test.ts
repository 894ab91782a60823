import { networkInterfaces } from 'node:os'
import t from 'tap'
import type { Zone } from '../helpers/dns.ts'
import { isInTime } from '../helpers/pace.ts'
import { HANG_UP, RESET, type SinkOptions } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet, stepsOf } from './outbox.ts'

const noIpv6 =
  !Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1')) &&
  'this machine has no IPv6'
const OWN_NAME = 'own.test'
const internet = await startInternet(t, { HELO_NAME: OWN_NAME })

t.test('mail goes to the host with the best preference, whatever its position in the response', async (t) => {
  const best = await internet.host(t)
  const second = await internet.host(t)
  const domain = internet.domain({
    mx: [
      [20, second.name],
      [5, best.name],
    ],
  })
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.equal(best.messages.length, 1)
  t.equal(second.sessions, 0)
  t.match(delivery.attempts[0], { host: best.name, address: best.host, code: 250, stage: 'dot' })
})

t.test('hosts of the same preference share the mail', async (t) => {
  // Slow enough that one session can't carry it all.
  const slow: SinkOptions = { dot: () => new Promise((resolve) => setTimeout(resolve, 150, undefined)) }
  const hosts = await Promise.all([1, 2, 3, 4].map(() => internet.host(t, slow)))
  const domain = internet.domain({ mx: hosts.map(({ name }) => [10, name] as const) })
  const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => internet.send(`r${at}@${domain}`)))
  for (const id of ids) await internet.inState(id, 'delivered')
  t.equal(
    hosts.reduce((sum, { messages }) => sum + messages.length, 0),
    30,
  )
  t.ok(hosts.filter(({ sessions }) => sessions > 0).length >= 2, 'more than one of four hosts got some')
})

const PASSED_OVER: Readonly<Record<string, SinkOptions>> = {
  'greets with 421': { greeting: () => '421 4.3.2 not now' },
  'greets with 451': { greeting: () => '451 4.3.2 not now' },
  'greets with 554': { greeting: () => '554 5.7.1 not from you' },
  'hangs up instead of greeting': { greeting: () => HANG_UP },
  'resets the connection instead of greeting': { greeting: () => RESET },
  'refuses EHLO with 421': { ehlo: () => '421 4.3.2 not now' },
  'refuses EHLO and HELO for good': { ehlo: () => '550 5.7.1 not you' },
  'hangs up at EHLO': { ehlo: () => HANG_UP },
  'hangs up at MAIL': { mail: () => HANG_UP },
}

for (const [what, script] of Object.entries(PASSED_OVER)) {
  t.test(`a host that ${what} is passed over for the next one`, async (t) => {
    const first = await internet.host(t, script)
    const second = await internet.host(t)
    const domain = internet.domain([first, second])
    const delivery = await internet.inState(await internet.send(`a@${domain}`), 'delivered')
    t.equal(second.messages.length, 1)
    t.ok(first.sessions > 0, 'the first one was asked')
    t.equal(delivery.attempts.length, 1)
    t.match(
      stepsOf(delivery).flatMap(({ step, text }) => (step === 'connect' ? [text] : [])),
      [first, second].map(({ name, host }) => `${name} [${host}]`),
      'the attempt tells of both',
    )
  })
}

t.test('a host without a listener is passed over for the next one', async (t) => {
  const second = await internet.host(t)
  const dead = { name: internet.newName() }
  internet.dns.zones[dead.name] = { a: [internet.newAddress(), internet.newAddress()] }
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([dead, second])}`), 'delivered')
  t.equal(delivery.attempts[0]?.host, second.name)
})

t.test('a host without an address is passed over for the next one', async (t) => {
  const second = await internet.host(t)
  const domain = internet.domain([{ name: 'nowhere.example' }, second])
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.equal(second.messages.length, 1)
})

t.test('a domain without MX records gets its mail at its own address', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain({ a: [host.host] })
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.match(delivery.attempts[0], { host: domain, address: host.host })
  t.ok(internet.dns.questions.includes(`MX ${domain}`), 'MX was asked for first')
})

t.test('a domain with nothing but an IPv6 address gets its mail there', { skip: noIpv6 }, async (t) => {
  await internet.host(t, { host: '::1' })
  const domain = internet.domain({ aaaa: ['::1'] })
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.equal(delivery.attempts[0]?.address, '::1')
})

t.test('a host with a dead address gets the mail at its other address', async (t) => {
  const host = await internet.host(t)
  internet.dns.zones[host.name] = { a: [internet.newAddress(), host.host] }
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  t.equal(delivery.attempts[0]?.address, host.host)
})

const BOUNCED: Readonly<Record<string, { zone: Zone | undefined; code: number; enhanced: string }>> = {
  'has a null MX': { zone: { mx: [[0, '.']] }, code: 556, enhanced: '5.1.10' },
  'does not exist': { zone: undefined, code: 550, enhanced: '5.1.2' },
  'has neither MX nor address records': { zone: { txt: ['here'] }, code: 550, enhanced: '5.1.2' },
  'names this service as its only host': { zone: { mx: [[10, OWN_NAME]] }, code: 550, enhanced: '5.4.6' },
}

for (const [what, { zone, code, enhanced }] of Object.entries(BOUNCED)) {
  t.test(`mail to a domain that ${what} bounces at once with ${enhanced}`, async (t) => {
    const domain = zone ? internet.domain(zone) : internet.newName()
    const id = await internet.send(`a@${domain}`)
    const delivery = await internet.inState(id, 'bounced')
    t.match(delivery.attempts, [{ outcome: 'bounced', stage: 'mx', code, enhanced }])
    const { events } = await internet.story(id)
    t.strictSame(
      events.map(({ type }) => type),
      ['processed', 'bounced'],
    )
  })
}

t.test('mail to a domain whose hosts do not exist bounces with 5.4.4, which names them', async (t) => {
  const [gone, bare] = [internet.newName(), internet.newName()]
  internet.dns.zones[bare] = { txt: ['here'] }
  for (const mx of [[gone], [gone, bare], ['192.0.2.7'], ['192.0.2.7', gone]]) {
    const domain = internet.domain({ mx: mx.map((name, at) => [at, name] as const) })
    const id = await internet.send(`a@${domain}`)
    const { attempts } = await internet.inState(id, 'bounced')
    t.match(attempts, [{ outcome: 'bounced', stage: 'mx', code: 550, enhanced: '5.4.4', reply: mx[0] }], mx.join(' '))
  }
})

t.test('one host whose addresses are not known for now defers the mail, whatever the others are', async (t) => {
  const failing = internet.newName()
  internet.dns.zones[failing] = { fails: 'servfail' }
  const domain = internet.domain([{ name: internet.newName() }, { name: failing }])
  const { attempts } = await internet.inState(await internet.send(`a@${domain}`), 'deferred')
  t.match(attempts, [{ stage: 'mx', code: 451, enhanced: '4.4.3', reply: /SERVFAIL/ }])
})

t.test('hosts of no better preference than this service itself are not asked', async (t) => {
  const behind = await internet.host(t)
  const domain = internet.domain({
    mx: [
      [20, behind.name],
      [30, OWN_NAME],
      [10, OWN_NAME],
    ],
  })
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'bounced')
  t.match(delivery.attempts, [{ enhanced: '5.4.6' }])
  t.equal(behind.sessions, 0)
})

t.test('a host of better preference than this service itself gets the mail', async (t) => {
  const ahead = await internet.host(t)
  const domain = internet.domain([ahead, { name: OWN_NAME }])
  await internet.inState(await internet.send(`a@${domain}`), 'delivered')
  t.equal(ahead.messages.length, 1)
})

t.test('SERVFAIL defers, and the next attempt sees what the DNS says by then', async (t) => {
  const host = await internet.host(t)
  const domain = internet.domain({ fails: 'servfail' })
  const id = await internet.send(`a@${domain}`)
  const deferred = await internet.inState(id, 'deferred')
  t.match(deferred.attempts, [{ outcome: 'deferred', stage: 'mx', code: 451, enhanced: '4.4.3' }])
  internet.dns.zones[domain] = { mx: [[10, host.name]] }
  await until('the DNS is asked again', async () => {
    const { state } = await internet.attempted(await internet.send(`b@${domain}`))
    return state === 'delivered'
  })
  await internet.advance(2)
  const delivered = await internet.inState(id, 'delivered')
  t.equal(delivered.attempts.length, 2)
})

t.test('SERVFAIL for the addresses of the only host defers', async (t) => {
  const host = { name: internet.newName() }
  internet.dns.zones[host.name] = { fails: 'servfail' }
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'deferred')
  t.match(delivery.attempts, [{ stage: 'mx', code: 451, enhanced: '4.4.3' }])
})

t.test('a DNS server that never answers defers within 15 s, and mail to other domains goes on meanwhile', async (t) => {
  const host = await internet.host(t)
  const silent = internet.domain({ fails: 'silence' })
  const waiting = await Promise.all(Array.from({ length: 20 }, (_, at) => internet.send(`r${at}@${silent}`)))
  await until('the question', () => internet.dns.questions.includes(`MX ${silent}`))
  const asked = performance.now()
  await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  const story = await internet.story(waiting[0] as string)
  t.equal(story.deliveries[0]?.attempts.length, 0, 'the silent domain was still being waited for')
  for (const id of waiting) {
    t.match((await internet.inState(id, 'deferred')).attempts, [{ stage: 'mx', code: 451, enhanced: '4.4.3' }])
  }
  t.ok(isInTime(asked, 15_000))
})

t.test('a thousand MX records cost no more than a few lookups and connections', async (t) => {
  const address = internet.newAddress()
  const names = Array.from({ length: 1000 }, () => internet.newName())
  for (const name of names) internet.dns.zones[name] = { a: [address] }
  const domain = internet.domain({ mx: names.map((name, at) => [at, name] as const) })
  const before = internet.dns.questions.length
  const delivery = await internet.inState(await internet.send(`a@${domain}`), 'deferred')
  t.match(delivery.attempts, [{ stage: 'connect' }])
  t.ok(stepsOf(delivery).length <= 5, 'at most five addresses were tried')
  t.ok(internet.dns.questions.length - before < 30)
})

t.test('a host is connected to at the address that was checked, whatever its name leads to next', async (t) => {
  const [host, trap] = [await internet.host(t), await internet.host(t)]
  let asked = 0
  internet.dns.zones[host.name] = {
    get a() {
      return asked++ === 0 ? [host.host] : [trap.host]
    },
  }
  const delivery = await internet.inState(await internet.send(`a@${internet.domain([host])}`), 'delivered')
  t.match(delivery.attempts, [{ host: host.name, address: host.host }])
  t.equal(asked, 1, 'the name is looked up once')
  t.equal(trap.sessions, 0)
})

t.test('unless they are allowed, hosts on private networks are never connected to', async (t) => {
  const guarded = await startInternet(t, { MX_PRIVATE_NETWORKS: '' })
  const trap = await guarded.host(t)
  const mapped = await guarded.host(t, { host: '127.0.0.1' })
  const zones: Zone[] = [
    { mx: [[10, trap.name]] },
    { a: [trap.host] },
    { a: [mapped.host], aaaa: ['::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'] },
    { a: ['10.0.0.1', '172.16.3.4', '192.168.1.1', '169.254.169.254', '100.64.1.1', '0.0.0.0'] },
    { aaaa: ['fe80::1', 'fc00::1', '::', '2002:7f00:1::', '2001::1', '::7f00:1'] },
  ]
  const ids = await Promise.all(zones.map((zone) => guarded.send(`a@${guarded.domain(zone)}`)))
  for (const [at, id] of ids.entries()) {
    const delivery = await guarded.inState(id, 'deferred')
    t.match(delivery.attempts, [{ stage: 'mx', code: 451, reply: /MX_PRIVATE_NETWORKS/ }], JSON.stringify(zones[at]))
  }
  t.equal(trap.sessions + mapped.sessions, 0)
})
