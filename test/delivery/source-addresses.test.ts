import { execFileSync } from 'node:child_process'
import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { untilSourcesRead } from './sources-read.ts'

const internet = await startInternet(t)
const { service } = internet
const { sources } = service.core
/** Of a network for documentation, so that no host has it. */
const PASSING = '198.51.100.77/32'

async function sendMany(count: number, domain: string): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status } = await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  if (status !== 200) throw new Error('not accepted')
}

/** Adds or removes an address of this host. Returns whether that is allowed. */
function changeAddress(action: 'add' | 'del'): boolean {
  try {
    execFileSync('ip', ['addr', action, PASSING, 'dev', 'lo'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

t.test('when an address is gone from its host, others send its mail, and no attempt is spent', async (t) => {
  if (!changeAddress('add')) return t.comment('the addresses of this host cannot be changed')
  t.teardown(() => changeAddress('del'))
  await sources.add({ name: 'gone', address: '198.51.100.77', helo: 'gone.example.com', weight: 100 })
  await sources.add({ name: 'stays', address: '127.0.0.2', helo: 'stays.example.com', weight: 1 })
  await untilSourcesRead(internet)
  changeAddress('del')
  const host = await internet.host(t)
  await sendMany(50, internet.domain([host]))
  await until('all of it', () => host.messages.length === 50)
  await until('the results', async () => (await service.sql`select from delivery_queue`).length === 0)
  t.equal((await service.sql`select from attempts`).length, 50)
  for (const name of ['gone', 'stays']) await sources.remove(name)
})

t.test('mail to hosts without IPv6 is not sent from a source that has nothing else, if another one can', async (t) => {
  await sources.add({ name: 'six', address: '::1', helo: 'six.example.com' })
  await sources.add({ name: 'four', address: '127.0.0.3', helo: 'four.example.com' })
  await untilSourcesRead(internet)
  const host = await internet.host(t)
  await sendMany(20, internet.domain([host]))
  await until('all of it', () => host.messages.length === 20)
  await sources.remove('four')
  await untilSourcesRead(internet)
  const id = await internet.send(`r@${internet.domain([host])}`)
  const { attempts } = await internet.attempted(id, 1)
  t.match(attempts, [{ stage: 'mx', reply: 'no mail host of the domain has an address' }], 'if none can, that is said')
})
