import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startInternet } from '../delivery/outbox.ts'
import { freePorts } from '../helpers/ports.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { metric, missingForPages, openSection, planOf, ruleOf } from './page.ts'

const skip = missingForPages() ?? false
const PROVIDERS_FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(PROVIDERS_FILE, 'providers: [{ name: harbor, mx: [.harbor.example] }]\n')
const [metricsPort = 0] = await freePorts(1)
const internet = await startInternet(t, { PROVIDERS_FILE, METRICS_PORT: String(metricsPort) })
const { service, sender } = internet
const { env, sql } = service

async function sendMany(count: number, domain: string): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${status}`)
}
const queued = async (state: string) => (await sql`select from delivery_queue where state = ${state}`).length
const attempts = (outcome = '') => metric(metricsPort, 'postrider_attempts_total', outcome && `outcome="${outcome}"`)

t.test('after an outage of the network, retries that wait for minutes are made at once', { skip }, async (t) => {
  const page = openSection('The queue grows', env)
  let isOut = true
  const host = await internet.host(t, { greeting: () => (isOut ? '421 4.3.2 not now' : undefined) })
  const domain = internet.domain([host])
  await sendMany(12, domain)
  await until('all to be deferred', async () => (await queued('deferred')) === 12, 60_000)
  t.match((await page.run('postrider queue')).stdout, new RegExp(`^${host.name} +0 +12 `, 'm'))
  t.match((await page.run('postrider queue --by account')).stdout, new RegExp(`^${sender.accountId} +0 +12 `, 'm'))

  isOut = false
  // Workers remember for half a minute that a host did not accept sessions, as the page says.
  let probes = 0
  await until(
    'a message to arrive',
    async () => {
      await sendMany(1, domain)
      probes++
      await until('its end', async () => host.messages.length > 0 || (await queued('deferred')) === 12 + probes)
      return host.messages.length > 0
    },
    60_000,
  )
  const PLAN = planOf(await page.run('postrider queue flush --all'))
  await page.run('postrider queue flush --confirm', { PLAN })
  await until('an empty queue', async () => (await sql`select from delivery_queue limit 1`).length === 0, 60_000)
  t.equal(new Set(host.messages.flatMap(({ to }) => to)).size, 12)
  t.ok((await metric(metricsPort, 'postrider_queue_oldest_due_seconds')) < 30)
  page.done(t)
})

t.test(
  'mail to a provider that blocks waits, and what bounced is sent again when it accepts mail',
  { skip },
  async (t) => {
    const page = openSection('A provider refuses mail', env)
    const PROVIDER = 'harbor'
    let blocks = true
    const host = await internet.host(
      t,
      { rcpt: () => (blocks ? '554 5.7.1 message blocked due to spam content in the message' : undefined) },
      'harbor.example',
    )
    const domain = internet.domain([host])
    const before = { all: await attempts(), bounced: await attempts('bounced') }
    await sendMany(10, domain)
    await until('the bounces', async () => (await attempts('bounced')) - before.bounced === 10, 60_000)
    t.match(
      ruleOf('PostriderProviderRefuses', 'a-provider-refuses-mail'),
      'postrider_attempts_total{outcome=~"deferred|bounced"}',
    )
    t.ok((await attempts('bounced')) - before.bounced > 0.3 * ((await attempts()) - before.all), 'the alert fires')

    await until('it to be counted', async () => {
      const { stdout } = await page.run('postrider queue show', { PROVIDER })
      return /^10 +0 +spam .* 554 5\.7\.1 message blocked/m.test(stdout)
    })
    const plan = await page.run('postrider queue requeue --since', { PROVIDER })
    t.match(plan.stdout, /requeue 10 deliveries/)
    await page.run('postrider queue pause', { PROVIDER, REASON: '554 blocked, form sent' })
    await until(
      'the pause to be known',
      async () => {
        const tried = host.commands.length
        await sendMany(1, domain)
        const [row] = await sql`select from delivery_queue where place = 'harbor' and waiting_for = 'pause'`
        return row && host.commands.length === tried
      },
      60_000,
    )

    blocks = false
    const bounced = await attempts('bounced')
    await page.run('postrider queue resume', { PROVIDER })
    await until('mail that waited', () => host.messages.length > 0, 60_000)
    const again = planOf(await page.run('postrider queue requeue --since', { PROVIDER }))
    t.equal((await page.run('postrider queue requeue --confirm', { PLAN: again })).code, 0)
    const arrived = () => new Set(host.messages.flatMap(({ to }) => to))
    await until('each recipient to have its mail', () => arrived().size === 10, 60_000)
    t.equal(await attempts('bounced'), bounced)
    page.done(t)
  },
)
