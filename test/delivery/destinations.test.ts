import { createLog, defaultProviders } from '@postrider/core'
import t from 'tap'
import { AccountHolds } from '../../packages/delivery/src/destinations/account-holds.ts'
import { Conversations } from '../../packages/delivery/src/destinations/conversations.ts'
import { Destinations } from '../../packages/delivery/src/destinations/destinations.ts'
import { SmartHosts } from '../../packages/delivery/src/routing/smart-hosts.ts'
import { WorkerSources } from '../../packages/delivery/src/routing/worker-sources.ts'
import { registerWorker } from '../helpers/lease.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

const { core } = await makeService(t)
const { workerId } = await registerWorker(t, core)
const base = { core, log: createLog('test', 'silent'), workerId, providers: defaultProviders(), onChanged: () => {} }
const [sources, smartHosts, conversations] = [new WorkerSources(base), new SmartHosts(base), new Conversations()]
const holds = new AccountHolds(base)
const ignore = async () => {}
const destinations = new Destinations({
  ...base,
  holds,
  sources,
  smartHosts,
  conversations,
  siteConnections: 10,
  mainDestination: undefined,
  events: { turn: ignore, blocked: ignore, allowanceSpent: () => {}, capacityFreed: () => {} },
})
t.teardown(async () => {
  conversations.close()
  await Promise.all([destinations.close(), sources.close(), smartHosts.close(), holds.close()])
})

t.test(
  'mail that waits for a source that no worker has does not keep parked mail of others from being found',
  async (t) => {
    await core.sources.add({ name: 'far', address: '192.0.2.77', helo: 'far.example.com' })
    await sources.start()
    const waiting = { accountId: 1, class: 1 } as const
    const other = { accountId: 2, class: 1 } as const
    for (let no = 0; no < 50_000; no++) destinations.parked(waiting, `mx${no}.example@far`)
    destinations.parked(other, 'mx.example')
    const [found] = await until('its destination to have a connection', () => {
      const found = [...destinations.withCapacity(() => true)]
      return found.length > 0 ? found : undefined
    })
    t.match(found, { backlogged: { flow: other, destination: 'mx.example' } })
  },
)

t.test(
  'parked mail is found at one destination after the other, since new mail need not wait for all of them',
  async (t) => {
    const accounts = [3, 4]
    for (const no of [1, 2, 3])
      for (const accountId of accounts) destinations.parked({ accountId, class: 1 }, `mx${no}.example.net`)
    const find = () =>
      [...destinations.withCapacity(({ accountId }) => accountId > 2)].map(({ backlogged }) => backlogged)
    const seen = new Set<string>()
    let most = 0
    await until('each destination', () => {
      const found = find()
      most = Math.max(most, new Set(found.map(({ destination }) => destination)).size)
      for (const { destination, flow } of found) seen.add(`${destination} ${flow.accountId}`)
      return seen.size === 6
    })
    t.equal(most, 1)
    let asked = 0
    const later = [...destinations.withCapacity((_flow, room) => room > 0 && ++asked > 2)]
    t.ok(later.length > 0, 'a destination of which nothing may be claimed does not end the search')
    const ofOne = [...destinations.withCapacity(({ accountId }) => accountId === 4)]
    t.strictSame(
      ofOne.map(({ backlogged }) => backlogged.flow),
      [{ accountId: 4, class: 1 }],
      'only flows that may be claimed',
    )
  },
)
