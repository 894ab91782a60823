import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureCertificate, type SignedEvidence } from '@postrider/core'
import t from 'tap'
import { answered, postrider } from '../cli/postrider.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { publishSource } from '../helpers/source-zones.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { complaintReport } from './reports.ts'

const folder = t.testdir()
const FILE = join(folder, 'providers.yaml')
writeFileSync(
  FILE,
  `providers:
  - name: harbor
    mx: [.harbor.example]
    connections: 4
    contact: https://postmaster.harbor.example/form
    rules:
      - { id: harbor-slow, reply: 'slow down', times: 1, connections: 2, for: 1h }
  - { name: other, mx: [.other.example], connections: 4 }
`,
)
const internet = await startInternet(t, { PROVIDERS_FILE: FILE, HELO_NAME: 'mail.ship.example' })
const { service, sender } = internet
const { sql, env } = service
publishSource(internet.dns, '45.0.0.25', 'mail.ship.example')

/** Names that occur nowhere else, so that each trace of one is found. */
const NAMES = ['quillon.marsh', 'Tabitha+News', 'brewster7', 'zed']
const certificate = await ensureCertificate(service.config)
const host = await internet.host(
  t,
  {
    tls: { cert: certificate.cert.toString(), key: certificate.key.toString() },
    rcpt({ command, before }) {
      const address = /<(.*)>/.exec(command)?.[1] ?? ''
      const local = address.split('@')[0] as string
      if (local.startsWith('unknown'))
        return `550 5.1.1 <${address}>: user ${local.toUpperCase()} unknown, id 4f${before}-${local.length} (copy to ${NAMES[0]}@elsewhere.example)`
      if (local === 'hasty' && before === 0) return '451 4.7.0 slow down please, and wait 2 hours'
      const name = NAMES.find((one) => one.toLowerCase() === local.toLowerCase())
      if (name) return [`552-5.2.2 mailbox of ${name.split('+')[0]}`, `552 5.2.2 <${name}> is over quota 7712`]
      return undefined
    },
  },
  'harbor.example',
)
const domain = internet.domain([host])
const elsewhere = internet.domain([await internet.host(t, {}, 'other.example')])

const recipients = [
  ...Array.from({ length: 5 }, (_, at) => `good${at}@${domain}`),
  ...Array.from({ length: 3 }, (_, at) => `unknown.person${at}@${domain}`),
  ...NAMES.map((name) => `${name}@${domain}`),
  `hasty@${domain}`,
  `neighbour@${elsewhere}`,
]

async function sendAll(): Promise<void> {
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const personalizations = recipients.map((recipient) => ({ recipient }))
  const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${status}`)
  await until('all attempts to be counted', async () => {
    const [row] = await sql<
      { attempts: number }[]
    >`select coalesce(sum(attempts), 0)::int as attempts from delivery_counts`
    return row?.attempts === recipients.length || undefined
  })
}
await sendAll()

const collect = (...args: string[]) => answered<SignedEvidence>(env, 'provider', 'evidence', 'harbor', ...args)

t.test('evidence of a provider has what a recount finds', async (t) => {
  const evidence = await collect()
  const [counted] = await sql`
    select count(*)::int as attempts, (count(*) filter (where outcome = 'delivered'))::int as delivered,
           (count(*) filter (where outcome = 'deferred'))::int as deferred,
           (count(*) filter (where outcome = 'bounced' and code = 550))::int as hard,
           (count(*) filter (where outcome = 'bounced' and code = 552))::int as soft
      from attempts where place = 'harbor'`
  t.match(counted, { attempts: 13, delivered: 5, deferred: 1, hard: 3, soft: 4 })
  t.match(evidence.outcomes, counted)
  t.match(evidence.days, [{ day: new Date().toISOString().slice(0, 10), ...counted }])
  t.match(evidence.sample, { lookedAt: recipients.length, count: 13, isComplete: true })
  t.strictSame(
    evidence.sample.refusals.map(({ code, enhanced, count, recipients }) => [code, enhanced, count, recipients]),
    [
      [552, '5.2.2', 4, 4],
      [550, '5.1.1', 3, 3],
      [451, '4.7.0', 1, 1],
    ],
  )
  const [first] = await sql<{ first: Date; last: Date }[]>`
    select min(started_at) as first, max(started_at) as last from attempts where code = 550`
  t.match(evidence.sample.refusals[1], { firstAt: first?.first.toISOString(), lastAt: first?.last.toISOString() })
  t.match(evidence.sample.tls, [{ version: 'TLSv1.3', attempts: 13 }])
  t.match(evidence.authentication, { attempts: 13, dkim: 0, domains: [{ name: sender.domain, attempts: 13 }] })
  t.equal(evidence.contact, 'https://postmaster.harbor.example/form')
  t.match(
    evidence.sender.records.find(({ purpose }) => purpose === 'reverse'),
    { host: '25.0.0.45.in-addr.arpa', state: 'right' },
  )
  t.match(await answered(env, 'provider', 'evidence', 'other'), { outcomes: { attempts: 1, delivered: 1 } })
})

t.test('no address and no name of a recipient is in it', async (t) => {
  const json = JSON.stringify(await collect())
  const { stdout: text } = await postrider(env, 'provider', 'evidence', 'harbor')
  for (const [form, pack] of Object.entries({ json, text })) {
    t.notMatch(pack, '@', `${form}: an address`)
    const locals = [...recipients.map((recipient) => recipient.split('@')[0] as string), 'Tabitha']
    const found = locals.filter((local) => pack.toLowerCase().includes(local.toLowerCase()))
    t.strictSame(found, [], form)
    t.match(pack, 'over quota', `${form}: the reply itself is shown`)
  }
  const hashes = (await collect()).sample.refusals.flatMap((refusal) => refusal.hashes)
  t.equal(new Set(hashes).size, 8)
})

t.test('limits are in it with their times while they last, and after they ended', async (t) => {
  t.match((await collect()).measures, [{ place: 'harbor', setting: 'connections', value: 2, rule: 'harbor-slow' }])
  await service.core.queue.resume({ place: 'harbor', accountId: null }, { rules: true })
  await service.core.queue.pause({ place: 'harbor', accountId: null, seconds: 600, reason: 'asked them' })
  await service.core.queue.resume({ place: 'harbor', accountId: null }, { rules: false })
  await service.core.reputation.hold({ accountId: sender.accountId, reason: 'list bought' })
  await service.core.reputation.release(sender.accountId)
  const { measures } = await collect()
  t.strictSame(
    measures.map(({ place, accountId, setting, rule }) => [place, accountId, setting, rule]),
    [
      [null, sender.accountId, 'held', 'operator'],
      ['harbor', null, 'pause', 'operator'],
      ['harbor', null, 'connections', 'harbor-slow'],
    ],
  )
  t.ok(measures.every(({ since, until: end }) => String(since) <= String(end)))
  t.match((await answered<SignedEvidence>(env, 'provider', 'evidence', 'other')).measures, [{ setting: 'held' }])
})

t.test('complaints about its mail are counted, and that they suppressed their recipients', async (t) => {
  const [original] = host.messages.filter(({ to }) => to[0]?.startsWith('good'))
  const fields = `${original?.data.toString().slice(0, original.data.indexOf('\r\n\r\n'))}\r\n`
  const report = Buffer.from(complaintReport(fields, { to: 'fbl@mail.ship.example' }))
  for (const effect of ['complained', 'none'])
    t.match(await service.core.returns.take({ raw: report, recipients: ['fbl@mail.ship.example'] }), { effect })
  const evidence = await until('the complaint to be counted', async () => {
    const found = await collect()
    return found.outcomes.complained > 0 ? found : undefined
  })
  t.match(evidence.complaints, { reports: 2, suppressed: 1 })
  t.match(await answered(env, 'provider', 'evidence', 'other'), { complaints: { reports: 0, suppressed: 0 } })
  t.match((await postrider(env, 'provider', 'evidence', 'harbor')).stdout, /Of 2 stored reports, 1 suppressed/)
})

t.test('evidence of one source has only its mail', async (t) => {
  publishSource(internet.dns, '45.0.0.26', 'mta-1.ship.example')
  await service.core.sources.add({ name: 'mta-1', address: '45.0.0.26', helo: 'mta-1.ship.example', bind: '127.0.0.1' })
  const [message] = await sql<{ id: string }[]>`select id from messages limit 1`
  await sql`
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, place, stage, code)
    values (${message?.id ?? ''}::uuid, 0, 9, ${sender.accountId}, 1, 'deferred', service_now(), 5, 'harbor@mta-1', 'rcpt', 450)`
  await sql`
    insert into delivery_counts
    select account_id, hour, domain_id, 2, provider, 'mta-1', 0, 1, 0, 1, 0, 0, 0, 0, 0, 0 from delivery_counts where provider = 'harbor' limit 1`
  const evidence = await collect('--source', 'mta-1')
  t.match(evidence, {
    source: 'mta-1',
    outcomes: { attempts: 1, delivered: 0, deferred: 1 },
    sample: { count: 1, tls: [{ version: '', attempts: 1 }], refusals: [{ code: 450 }] },
    sender: { sources: [{ name: 'mta-1', addresses: ['45.0.0.26'], helo: 'mta-1.ship.example' }], records: [] },
  })
  t.match((await collect()).outcomes, { attempts: 14 })
  await service.core.sources.remove('mta-1')
})

t.test('an altered file is found, in either form', async (t) => {
  const json = join(folder, 'evidence.json')
  const text = join(folder, 'evidence.md')
  t.match(await postrider(env, 'provider', 'evidence', 'harbor', '--out', json, '--json'), { code: 0 })
  t.match(await postrider(env, 'provider', 'evidence', 'harbor', '--out', text), {
    code: 0,
    stdout: `written to ${text}`,
  })
  const printed = join(folder, 'printed.md')
  writeFileSync(printed, (await postrider(env, 'provider', 'evidence', 'harbor')).stdout)
  for (const file of [json, text, printed])
    t.match(await postrider(env, 'provider', 'evidence', '--verify', file), { code: 0, stdout: /^unchanged/ }, file)
  const altered = {
    'a number': [json, '"hard":3', '"hard":2'],
    'a repeated key': [json, '"version":1', '"version":2,"version":1'],
    'a line': [text, /.*552.*\n/, ''],
    'no signature': [text, /\nSignature.*\n/, ''],
    'no signature of the JSON': [json, /,"signature":"[0-9a-f]+"/, ''],
    'not JSON': [json, '}', ''],
  } as const
  for (const [what, [file, from, to]] of Object.entries(altered)) {
    const path = join(folder, 'altered')
    const before = readFileSync(file, 'utf8')
    writeFileSync(path, before.replace(from, to))
    t.not(readFileSync(path, 'utf8'), before)
    t.match(
      await postrider(env, 'provider', 'evidence', '--verify', path),
      { code: 1, stderr: /not as this installation has made it/ },
      what,
    )
  }
  const other = { ...env, SECRET_KEY: 'another key, that of another installation' }
  t.not((await postrider(other, 'provider', 'evidence', '--verify', json)).code, 0)
})

t.test('wrong calls name the parameter', async (t) => {
  const said = {
    nowhere: [1, /\[provider\] is invalid: must be one of google/],
    'harbor --days 0': [1, /--days: must be from 1 to 30/],
    'harbor --source none': [1, /--source: must be the name of a source/],
    'harbor --verify file': [2, /--verify cannot be used together with "harbor"/],
    '--verify /nowhere': [1, /--verify \/nowhere cannot be read: ENOENT/],
    '': [2, /missing argument: provider/],
  } as const
  for (const [args, [code, stderr]] of Object.entries(said))
    t.match(await postrider(env, 'provider', 'evidence', ...args.split(' ').filter(Boolean)), { code, stderr }, args)
})
