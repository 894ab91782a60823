import t from 'tap'
import { list, publishLists, publishSource } from '../helpers/source-zones.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { untilSourcesRead } from './sources-read.ts'

const ZEN = 'zen.spamhaus.org'
const COP = 'bl.spamcop.net'

const internet = await startInternet(t, { BLOCK_LISTS: `${ZEN},${COP}` })
const { service, dns } = internet
const { sources, sourceChecks } = service.core
publishLists(dns, [ZEN, COP])

let numbers = 0

interface TestSource {
  readonly name: string
  readonly address: string
  /** Lists the address in a block list, and looks it up. Without codes, removes it. */
  list(zone: string, ...codes: string[]): Promise<void>
  state(): Promise<{ isPaused: boolean; reason: string | null } | undefined>
}

/**
 * A source that the worker has, with a public address; it is removed at the end of the test. Unless it is left to the worker, it is checked
 * here, and not due until then, so that the worker does not look it up while the test changes its listings.
 */
async function addSource(
  t: { teardown(fn: () => unknown): void },
  { pool, leftToWorker = false }: { pool?: string; leftToWorker?: boolean } = {},
): Promise<TestSource> {
  const number = ++numbers
  const [name, address, helo] = [`mta-${number}`, `45.0.0.${number}`, `mta-${number}.sends.example`]
  publishSource(dns, address, helo)
  if (!leftToWorker)
    await service.sql`
      alter table source_checks alter check_at set default 'infinity', alter listings_at set default 'infinity'`
  await sources.add({ name, address, helo, bind: `127.0.0.${number + 1}`, pool })
  t.teardown(() => sources.remove(name))
  if (!leftToWorker) await sourceChecks.check(name)
  const state = async () => (await sources.read()).sources.find((one) => one.name === name)
  await until('the worker to have the source', async () => ((await state())?.workers ?? 0) > 0 || undefined)
  return {
    name,
    address,
    state,
    async list(zone, ...codes) {
      list(dns, address, zone, ...codes)
      await sourceChecks.check(name)
    },
  }
}

const ACTIVE = { isPaused: false, reason: null }

t.test('a worker checks sources by itself, and logs records that become wrong, and listings', async (t) => {
  const { name, address } = await addSource(t, { leftToWorker: true })
  const status = await until(
    'the checks',
    async () => {
      const source = (await sources.read()).sources.find((one) => one.name === name)
      const found = (await sourceChecks.read()).get(source?.id ?? 0)
      return found?.checkedAt && found.listings.length > 0 ? found : undefined
    },
    40_000,
  )
  t.match(status.records[0], { purpose: 'reverse', state: 'right' })
  t.match(status.listings, [{ state: 'clean' }, { state: 'clean' }])
  const isLogged = (fields: Record<string, string>): boolean =>
    internet.worker.log.some((line) => Object.entries(fields).every(([field, value]) => line[field] === value))
  const broken = { msg: 'DNS record of a source address is wrong', source: name, check: 'reverse' }
  const listed = { msg: 'a block list has a source address', source: name, list: COP }
  t.notOk(isLogged(broken))
  dns.zones[`${numbers}.0.0.45.in-addr.arpa`] = { ptr: ['elsewhere.example'] }
  list(dns, address, COP, '127.0.0.2')
  await internet.advance(70)
  await until('both warnings', () => isLogged(broken) && isLogged(listed), 40_000)
})

t.test('a source that most receivers refuse is paused while another of its pool can send', async (t) => {
  const [bad, other] = [await addSource(t), await addSource(t)]
  await bad.list(ZEN, '127.0.0.2')
  t.match(await bad.state(), { isPaused: true, reason: `listed by ${ZEN} (127.0.0.2)` })
  t.match(await other.state(), ACTIVE)
  await untilSourcesRead(internet)
  const host = await internet.host(t)
  const domain = internet.domain([host])
  for (let number = 0; number < 10; number++) await internet.send(`r${number}@${domain}`)
  await until('the mail', () => host.messages.length === 10)
  t.same(new Set(host.messages.map(({ client }) => client)), new Set([`127.0.0.${Number(other.name.slice(4)) + 1}`]))
  await bad.list(ZEN)
  t.match(await bad.state(), ACTIVE, 'the pause ends when the listing is gone')
  const audit = (await service.core.audit.list(0, { after: 0, limit: 1000 })).map(({ action }) => action)
  t.ok(audit.includes('source.pause') && audit.includes('source.resume'))
})

t.test('listings of other kinds pause nothing', async (t) => {
  const [source] = [await addSource(t), await addSource(t)]
  await source.list(ZEN, '127.0.0.10')
  await source.list(COP, '127.0.0.2')
  t.match(await source.state(), ACTIVE)
})

t.test('the last source of a pool that can send is never paused', async (t) => {
  await sources.addPool('other', {}).catch(() => {})
  await addSource(t, { pool: 'other' })
  const [first, second] = [await addSource(t), await addSource(t)]
  await first.list(ZEN, '127.0.0.2')
  await second.list(ZEN, '127.0.0.3')
  t.match([await first.state(), await second.state()], [{ isPaused: true }, ACTIVE])
  await sources.change(second.name, { pause: 'maintenance' })
  await sourceChecks.checkDueListings({ limit: 1 })
  t.match([await first.state(), await second.state()], [ACTIVE, { isPaused: true, reason: 'maintenance' }])
  await sources.change(second.name, { pause: null })
  await sourceChecks.checkDueListings({ limit: 1 })
  const after = [await first.state(), await second.state()]
  t.equal(after.filter((one) => one?.isPaused).length, 1)
})

t.test('concurrent decisions leave one source', async (t) => {
  const all = [await addSource(t), await addSource(t), await addSource(t)]
  for (const { address } of all) list(dns, address, ZEN, '127.0.0.2')
  await Promise.all(all.map(({ name }) => sourceChecks.check(name)))
  await Promise.all(Array.from({ length: 5 }, () => sourceChecks.checkDueListings({ limit: 5 })))
  const states = await Promise.all(all.map((one) => one.state()))
  t.equal(states.filter((one) => one?.isPaused).length, 2)
})

t.test('a pause of the operator does not end with a listing', async (t) => {
  const [source] = [await addSource(t), await addSource(t)]
  await sources.change(source.name, { pause: 'maintenance' })
  await source.list(ZEN, '127.0.0.2')
  t.match(await source.state(), { isPaused: true, reason: 'maintenance' })
  await source.list(ZEN)
  t.match(await source.state(), { isPaused: true, reason: 'maintenance' })
  await sources.change(source.name, { pause: null })
  await source.list(ZEN, '127.0.0.2')
  await sources.change(source.name, { pause: 'by hand' })
  await source.list(ZEN)
  t.match(await source.state(), { isPaused: true, reason: 'by hand' }, 'also if the service has paused it before')
})

t.test('a source that the operator resumes is not paused again by the same listing', async (t) => {
  const [source] = [await addSource(t), await addSource(t)]
  await source.list(ZEN, '127.0.0.2')
  await sources.change(source.name, { pause: null })
  await source.list(ZEN, '127.0.0.2')
  t.match(await source.state(), ACTIVE)
  await source.list(ZEN)
  await source.list(ZEN, '127.0.0.2')
  t.match(await source.state(), { isPaused: true }, 'by a new one it is')
})

t.test('a change of the weight does not make a pause the operator’s', async (t) => {
  const [source] = [await addSource(t), await addSource(t)]
  await source.list(ZEN, '127.0.0.2')
  await sources.change(source.name, { weight: 20 })
  t.match(await source.state(), { isPaused: true })
  await source.list(ZEN)
  t.match(await source.state(), ACTIVE)
})
