import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureCertificate } from '@postrider/core'
import t from 'tap'
import { startMetrics } from '../../packages/core/src/platform/metrics/metrics.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const folder = t.testdir()
const FILE = join(folder, 'providers.yaml')
writeFileSync(
  FILE,
  `providers:
  - name: busy
    mx: [.busy.example]
    rules:
      - { id: busy-later, reply: 'come back later', times: 1, pause: 2h }
`,
)
const BACKUP_DIR = join(folder, 'backups')
const metrics = await startMetrics({ process: 'delivery', version: 'test' })
const internet = await startInternet(t, { PROVIDERS_FILE: FILE, BACKUP_DIR })
t.teardown(() => metrics.close())
const { service } = internet

/** The samples of a metric of the worker, with their labels as written. */
async function samples(name: string): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(`postrider_${name}`))
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(`postrider_${name}`.length, at), Number(line.slice(at + 1))]
    }),
  )
}

t.test('lookups of mail hosts and the TLS of sessions are counted by their results', async (t) => {
  const tls = await ensureCertificate(service.config)
  const [secure, plain] = [await internet.host(t, { tls }), await internet.host(t, {})]
  await internet.inState(await internet.send(`a@${internet.domain([secure])}`), 'delivered')
  await internet.inState(await internet.send(`b@${internet.domain([plain])}`), 'delivered')
  await internet.inState(await internet.send('c@no-such-domain.example'), 'bounced')
  const looked = await samples('mx_lookups_total')
  t.equal(looked['{result="found"}'], 2)
  t.equal(looked['{result="none"}'], 1)
  t.equal((await samples('mx_lookup_seconds'))._count, 3)
  const sessions = await samples('outgoing_tls_total')
  t.equal(sessions['{version="TLSv1.3",level="opportunistic",result="unverified"}'], 1)
  t.equal(sessions['{version="none",level="opportunistic",result="none"}'], 1)

  await service.core.tls.set({ accountId: null, domain: internet.domain([plain]) }, 'none')
  const demanding = internet.domain([plain])
  await service.core.tls.set({ accountId: null, domain: demanding }, 'required')
  // What is sent before the worker has read the rule is delivered.
  await until('the rule to be obeyed', async () => {
    const { attempts } = await internet.attempted(await internet.send(`d@${demanding}`))
    return attempts[0]?.outcome === 'deferred'
  })
  t.equal((await samples('outgoing_tls_total'))['{version="none",level="required",result="refused"}'], 1)
})

t.test('a limit set by a back-off rule is counted, and its pause is shown as long as it lasts', async (t) => {
  t.match(await samples('pauses'), { '{provider="busy"}': 0, '{provider="other"}': 0 })
  const busy = await internet.host(t, { rcpt: () => '451 4.7.0 come back later' }, 'busy.example')
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const personalizations = [{ recipient: `a@${internet.domain([busy])}` }]
  await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  await until('the pause is in force', async () => (await samples('pauses'))['{provider="busy"}'] === 1)
  // It is counted when the worker hears of it: a commit notifies before it answers.
  const counted = async () => (await samples('back_offs_total'))['{provider="busy",setting="pause"}']
  t.equal(await until('it to be counted', counted), 1)
})

t.test('exports are counted when they end', async (t) => {
  const day = new Date().toISOString().slice(0, 10)
  const wanted = { startDate: day, endDate: undefined, events: [], format: 'json', callbackUrl: undefined } as const
  const by = { keyId: null, address: null }
  await service.core.exports.create(internet.sender.accountId, { ...wanted, email: undefined }, by)
  await until('the export is done', async () => (await samples('exports_total'))['{result="done"}'] === 1)
  t.equal((await samples('exports_total'))['{result="failed"}'], 0)
})

t.test('the age of the last base backup is shown, and without one it is infinite', async (t) => {
  const ages = async () => ({ ...(await samples('backup_age_seconds')), ...(await samples('backup_interval_seconds')) })
  t.strictSame(await ages(), { '': 86_400 }, 'both have no labels')
  t.match(await metrics.text(), /^postrider_backup_age_seconds \+Inf$/m)
  const began = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  mkdirSync(join(BACKUP_DIR, 'base'), { recursive: true })
  for (const name of [`${began}Z.json`, '30001231T000000Z.json.0a1b2c3d.new', 'notes'])
    writeFileSync(join(BACKUP_DIR, 'base', name), '')
  // The figures of the worker are used for a minute; these are read now.
  const age = Number((await service.core.serviceFigures()).backup_age_seconds)
  t.ok(age >= 3 * 3600 && age < 3 * 3600 + 60, String(age))
  t.strictSame(await samples('database_archive_age_seconds'), {}, 'without archiving there is no age of the archive')
})
