import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HANG_UP, type Sink, type SinkOptions, startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { untilSourcesRead } from './sources-read.ts'

const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(
  FILE,
  `providers:
  - name: harbour
    mx: [.harbour.example]
    rules:
      - { id: harbour-blocked, reply: 'blocked', pause: 1h }
`,
)
const internet = await startInternet(t, { PROVIDERS_FILE: FILE })
const { service } = internet
const { sources } = service.core

/** A relay host for these situations, until the end of the test. */
async function makeSmartHost(t: Test, name: string, usedFor: string, settings = {}, behaviour: SinkOptions = {}) {
  const sink = await startSink(t, behaviour)
  const url = `smtp://127.0.0.1:${sink.port}`
  await changeSmartHosts(() => sources.addSmartHost({ name, url, usedFor: [usedFor], ...settings }))
  t.teardown(() => changeSmartHosts(() => sources.removeSmartHost(name)))
  return sink
}

const recipientsOf = ({ messages }: Sink): string[] => messages.flatMap(({ to }) => to)

/** Waits until the worker works with the change. */
async function changeSmartHosts(change: () => Promise<unknown>): Promise<void> {
  const { log } = internet.worker
  const before = log.length
  await change()
  await until('the worker to read it', () => log.slice(before).some(({ msg }) => msg === 'smart hosts changed'))
}

t.test('mail that a provider blocks until after its deadline is sent by a smart host, and says so', async (t) => {
  const relay = await makeSmartHost(t, 'backup', 'blocked')
  const host = await internet.host(t, { rcpt: () => '421 4.7.0 blocked for now' }, 'harbour.example')
  const domain = internet.domain([host])
  const patient = await internet.send(`first@${domain}`)
  // Before the worker knows of the pause, more mail is refused.
  const later = await until('mail to wait', async () => {
    const id = await internet.send(`later@${domain}`)
    const taken = await until('it to be taken', async () => {
      const [row] = await service.sql<{ place: string | null; state: string }[]>`
        select place, state from delivery_queue where message_id = ${id}::uuid and worker_id is null`
      return row && (row.place !== null || row.state === 'deferred') && row
    })
    return taken.place === 'harbour' && id
  })
  const urgent = await internet.send(`urgent@${domain}`, { settings: { class: 'urgent' } })
  await internet.inState(urgent, 'delivered')
  t.strictSame(
    relay.messages.map(({ to }) => to),
    [[`urgent@${domain}`]],
  )
  t.match(await internet.story(urgent), { deliveries: [{ attempts: [{ host: '127.0.0.1' }] }] })
  const [row] = await service.sql`select place from attempts where place like 'smarthost:%'`
  t.equal(row?.place, 'smarthost:backup')
  const [event] = await service.sql`select detail from events where type = 'sent' and detail ? 'via'`
  t.equal(event?.detail.via, 'backup')
  t.equal(relay.messages.length, 1, 'mail that can wait for the end of the pause does')
  for (const id of [patient, later]) t.match(await internet.story(id), { deliveries: [{ finishedAt: null }] })
  await service.core.queue.resume({ place: 'harbour', accountId: null }, { rules: true })
})

/** A host whose addresses are not known for now. */
function unknownHost(): { readonly name: string } {
  const name = internet.newName()
  internet.dns.zones[name] = { fails: 'servfail' }
  return { name }
}

t.test('mail without a session for half of its lifetime is sent by a smart host for its class', async (t) => {
  const relay = await makeSmartHost(t, 'late', 'deadline', { classes: [1], dailyCap: 2 })
  const domain = internet.domain([unknownHost()])
  const send = (name: string, extra = {}) =>
    internet.send(`${name}@${domain}`, { settings: { deadline: 3600, ...extra } })
  const ids = [await send('a'), await send('b'), await send('c')]
  const bulk = await send('bulk', { class: 'bulk' })
  for (const id of [...ids, bulk]) await internet.attempted(id, 1)
  await internet.advance(20)
  for (const id of [...ids, bulk]) await internet.attempted(id, 2)
  t.equal(relay.messages.length, 0)
  await internet.advance(20)
  await until('two, as many as the daily limit', () => relay.messages.length === 2)
  for (const id of [...ids, bulk]) await internet.attempted(id, 3)
  t.equal(relay.messages.length, 2)
})

t.test('mail of a host that answers is not sent by a smart host because of its deadline', async (t) => {
  const relay = await makeSmartHost(t, 'late', 'deadline')
  const busy = await internet.host(t, { rcpt: () => '451 4.3.2 busy' })
  const domain = internet.domain([busy])
  const refused = await internet.send(`refused@${domain}`, { settings: { deadline: 3600 } })
  await internet.attempted(refused, 1)
  await internet.advance(20)
  await internet.attempted(refused, 2)
  await internet.advance(20)
  await internet.attempted(refused, 3)
  // Mail of the test before may be sent by it.
  t.notOk(recipientsOf(relay).includes(`refused@${domain}`))
})

t.test(
  'after an indeterminate attempt, mail stays with the host that may have it, also if that is a smart host',
  async (t) => {
    const { limits } = service.core.deliveries
    let isLost = true
    let others = 0
    const losing = { dot: () => (isLost ? HANG_UP : undefined) }
    const host = await internet.host(t, losing, 'harbour.example')
    const domain = internet.domain([host])
    const settings = { settings: { deadline: 3600 } }
    const direct = await internet.send(`direct@${domain}`, settings)
    t.match(await internet.attempted(direct, 1), { attempts: [{ indeterminate: true }] })
    const relay = await makeSmartHost(t, 'backup', 'blocked', {}, losing)
    /** Pauses the usual route, and waits until the worker knows: then the smart host gets mail. */
    const pause = async (): Promise<void> => {
      const usual = { place: 'harbour', accountId: null, setting: 'pause', value: null, seconds: null } as const
      isLost = false
      await limits.set({ ...usual, rule: 'harbour-blocked', reason: 'blocked', lasts: 7200 })
      // No delivery is tried after five minutes: it would be the one that is to wait.
      await service.sql`update limit_overrides set step_at = null where place = 'harbour'`
      const sent = new Set<string>()
      await until('a worker that knows the pause', async () => {
        const to = `other${++others}@${domain}`
        sent.add(to)
        await internet.send(to, settings)
        return recipientsOf(relay).some((one) => sent.has(one))
      })
    }
    const withoutOthers = (sink: Sink) => recipientsOf(sink).filter((to) => !to.startsWith('other'))
    await pause()
    isLost = true
    const relayed = await internet.send(`relayed@${domain}`, settings)
    t.match(await internet.attempted(relayed, 1), { attempts: [{ indeterminate: true, host: '127.0.0.1' }] })
    isLost = false
    await service.core.queue.resume({ place: 'harbour', accountId: null }, { rules: true })
    await internet.advance(10)
    await internet.inState(relayed, 'delivered')
    t.strictSame(withoutOthers(relay), [`relayed@${domain}`], 'again by the smart host, although nothing is paused')
    await internet.inState(direct, 'delivered')
    t.strictSame(withoutOthers(host), [`direct@${domain}`])

    isLost = true
    const again = await internet.send(`again@${domain}`, settings)
    t.match(await internet.attempted(again, 1), { attempts: [{ indeterminate: true }] })
    await pause()
    await internet.advance(10)
    await until(
      'it to wait',
      async () =>
        (await service.sql`select 1 from delivery_queue where place = 'harbour' and recipient = ${`again@${domain}`}`)
          .length === 1,
    )
    t.strictSame(withoutOthers(relay), [`relayed@${domain}`], 'never by the smart host')
    await service.core.queue.resume({ place: 'harbour', accountId: null }, { rules: true })
    await internet.inState(again, 'delivered')
  },
)

t.test('what new sources may not send is sent by a smart host', async (t) => {
  await sources.add({ name: 'new', address: '127.0.0.3', helo: 'new.example.com', warmUpPlan: 'gentle' })
  t.teardown(() => sources.remove('new'))
  const relay = await makeSmartHost(t, 'spill', 'spill')
  await untilSourcesRead(internet)
  const host = await internet.host(t)
  const domain = internet.domain([host])
  for (let at = 0; at < 30; at++) await internet.send(`r${at}@${domain}`)
  await until('all of it', () => host.messages.length + relay.messages.length === 30)
  t.equal(host.messages.length, 13, 'an eighth of the hundred of the first day')
})

t.test('a smart host that is down takes turns with the usual route, which works again', async (t) => {
  await changeSmartHosts(() => sources.addSmartHost({ name: 'down', url: 'smtp://127.0.0.1:1', usedFor: ['deadline'] }))
  t.teardown(() => changeSmartHosts(() => sources.removeSmartHost('down')))
  let isBusy = true
  const host = await internet.host(t, { greeting: () => (isBusy ? '421 4.3.2 try again later' : undefined) })
  const id = await internet.send(`r@${internet.domain([host])}`, { settings: { deadline: 4 * 3600 } })
  await internet.attempted(id, 1)
  isBusy = false
  await internet.advance(125)
  t.match((await internet.attempted(id, 2)).attempts, [{ host: host.name }, { host: '127.0.0.1' }])
  await internet.advance(60)
  await internet.inState(id, 'delivered')
  t.equal(host.messages.length, 1)
})

t.test('a smart host that is added again under its name has the new daily limit', async (t) => {
  const relay = await startSink(t)
  const added = { name: 'again', url: `smtp://127.0.0.1:${relay.port}`, usedFor: ['deadline'] }
  const domain = internet.domain([unknownHost()])
  const sendOne = () => internet.send(`r@${domain}`, { settings: { deadline: 3600 } })
  await changeSmartHosts(() => sources.addSmartHost(added))
  t.teardown(() => sources.removeSmartHost('again'))
  await internet.attempted(await sendOne(), 1)
  await internet.advance(35)
  await until('the first', () => relay.messages.length === 1)
  await changeSmartHosts(() => sources.removeSmartHost('again'))
  await changeSmartHosts(() => sources.addSmartHost({ ...added, dailyCap: 2 }))
  const ids = await Promise.all(Array.from({ length: 5 }, sendOne))
  for (const id of ids) await internet.attempted(id, 1)
  await internet.advance(35)
  for (const id of ids) await internet.attempted(id, 2)
  t.equal(relay.messages.length, 3)
})
