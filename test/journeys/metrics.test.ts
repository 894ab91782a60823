import nodemailer from 'nodemailer'
import t from 'tap'
import { METRIC_TABLE, type MetricRow } from '../../packages/core/src/index.ts'
import { count, startMetrics } from '../../packages/core/src/platform/metrics/metrics.ts'
import { seriesOf } from '../../packages/core/src/platform/metrics/table.ts'
import { submit } from '../dashboard/dashboard.ts'
import { makeWholeDatabase } from '../helpers/database.ts'
import { freePorts } from '../helpers/ports.ts'
import { type ProcessName, startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

const BUDGET = 3000
const SAMPLE = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/

/** Value by name and labels as written: `postrider_ready`, `postrider_accepted_messages_total{door="v2"}`. */
function parse(text: string): Map<string, number> {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => {
      const [, name, labels, value] = SAMPLE.exec(line) ?? []
      if (name === undefined) throw new Error(`not in the format of Prometheus: ${line}`)
      return [labels ? `${name}{${labels}}` : name, Number(value)]
    }),
  )
}

t.test('each process serves what it did: accepted by each entry point, refused, delivered, reported', async (t) => {
  const sink = await startSink(t, {
    rcpt: ({ command }) => (command.includes('gone@') ? '550 5.1.1 unknown' : undefined),
  })
  const service = await makeServiceOn(t, await makeWholeDatabase(), { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const sender = await service.makeSender()
  const names = ['api', 'relay', 'delivery', 'returns'] as const
  const ports = await freePorts(names.length)
  const portOf = (name: ProcessName) => ports[(names as readonly string[]).indexOf(name)]
  const processes = await Promise.all(
    names.map((name) => startProcess(t, name, { ...service.env, METRICS_PORT: String(portOf(name)) })),
  )
  const read = async (name: ProcessName) => {
    const response = await fetch(`http://127.0.0.1:${portOf(name)}/metrics`)
    t.equal(response.status, 200)
    t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
    return parse(await response.text())
  }
  const base = `http://127.0.0.1:${service.config.apiPort}`

  await sendV2(base, sender.apiKey, v2Body(sender))
  await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [{ recipient: 'gone@harbor.example' }] }))
  const refused = await sendV2(base, sender.apiKey, v2Body(sender, { from: { fromEmail: 'desk@elsewhere.example' } }))
  t.equal(refused.status, 400)
  // It is accepted by another thread of the API process.
  const large = await sendV2(base, sender.apiKey, v2Body(sender, { content: `<p>${'berth '.repeat(60_000)}</p>` }))
  t.equal(large.status, 200)
  const v3 = await fetch(`${base}/v3/mail/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sender.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ to: [{ email: 'ada@harbor.example' }, { email: 'kim@harbor.example' }] }],
      from: { email: `desk@${sender.domain}` },
      subject: 'Berth 5',
      content: [{ type: 'text/plain', value: 'Ready.' }],
    }),
  })
  t.equal(v3.status, 202)
  const transport = nodemailer.createTransport({
    host: '127.0.0.1',
    port: service.config.relayPort,
    auth: { user: 'apikey', pass: sender.apiKey },
    tls: { rejectUnauthorized: false },
  })
  await transport.sendMail({
    from: `desk@${sender.domain}`,
    to: 'sam@harbor.example',
    subject: 'Berth 6',
    text: 'Ready.',
  })
  await t.rejects(
    nodemailer
      .createTransport({
        host: '127.0.0.1',
        port: service.config.relayPort,
        auth: { user: 'apikey', pass: 'wrong' },
        tls: { rejectUnauthorized: false },
      })
      .verify(),
  )

  const logIn = await submit(base, '/app/login', { email: 'nobody@people.example', password: 'not it' })
  t.equal(logIn.status, 401)

  await until('the thread for large calls has reported', async () => {
    return (await read('api')).get('postrider_accepted_messages_total{door="v2"}') === 3
  })
  const api = await read('api')
  const value = (samples: Map<string, number>, name: string) => samples.get(`postrider_${name}`)
  t.equal(value(api, 'accepted_messages_total{door="v3"}'), 1)
  t.equal(value(api, 'accepted_recipients_total{door="v3"}'), 2)
  t.equal(value(api, 'refused_messages_total{door="v2",error="senderInvalid"}'), 1)
  t.equal(value(api, 'http_requests_total{surface="v2",status_class="2xx"}'), 3)
  t.equal(value(api, 'http_requests_total{surface="v2",status_class="4xx"}'), 1)
  t.equal(value(api, 'logins_total{method="password",result="refused"}'), 1)
  t.equal(value(api, 'logins_total{method="passkey",result="limited"}'), 0)
  t.equal(value(api, 'ready'), 1)
  t.equal(value(api, 'stopping'), 0)
  t.equal(value(api, 'accept_seconds_count{door="v3"}'), 1)
  t.ok(api.has('nodejs_eventloop_lag_seconds'))

  const relay = await read('relay')
  t.equal(value(relay, 'accepted_messages_total{door="smtp"}'), 1)
  t.equal(value(relay, 'smtp_logins_total{result="accepted"}'), 1)
  t.equal(value(relay, 'smtp_logins_total{result="refused"}'), 1)
  t.equal(value(relay, 'smtp_sessions_total{tls="none"}'), 2)
  t.ok((value(relay, 'smtp_replies_total{code_class="2xx"}') ?? 0) > 5)

  // Before the metrics are read: what they say of the queue is used again for ten seconds.
  await until(
    'an empty queue',
    async () => (await service.sql`select from delivery_queue limit 1`).length === 0,
    20_000,
  )
  const DONE = ['events_total{type="sent"}', 'attempts_total{outcome="delivered",provider="relay"}']
  await until('all to be numbered, and counted after its commit', async () => {
    const delivery = await read('delivery')
    const done = DONE.every((name) => value(delivery, name) === 5)
    return done && value(delivery, 'attempts_total{outcome="bounced",provider="relay"}') === 1
  })
  const delivery = await read('delivery')
  t.equal(value(delivery, 'claimed_deliveries_total'), 6)
  for (const name of DONE) t.equal(value(delivery, name), 5)
  t.equal(value(delivery, 'attempts_total{outcome="bounced",provider="relay"}'), 1)
  t.equal(value(delivery, 'attempt_failures_total{outcome="bounced",stage="rcpt"}'), 1)
  t.equal(value(delivery, 'delivery_seconds_count{class="normal"}'), 5)
  t.equal(value(delivery, 'events_total{type="processed"}'), 6)
  t.equal(value(delivery, 'workers'), 1)
  t.equal(value(delivery, 'queue_oldest_due_seconds'), 0)
  t.ok((value(delivery, 'database_bytes') ?? 0) > 1_000_000)
  t.ok((value(delivery, 'database_partition_weeks') ?? 0) >= 2)
  t.notOk(delivery.has('postrider_database_replica_lag_bytes'), 'what is not there is not reported as 0')

  for (const name of names) {
    const samples = await read(name)
    t.ok(samples.size < BUDGET, `${name}: ${samples.size} time series`)
    const text = [...samples.keys()].join('\n')
    t.notMatch(text, /harbor|ship\d|account-|people|@/, 'no addresses, domains or accounts')
    for (const [row, { processes }] of Object.entries(METRIC_TABLE) as [string, MetricRow][])
      if (processes && !processes.includes(name)) t.notOk(text.includes(`postrider_${row}`), `${name} has no ${row}`)
  }
  t.equal((await fetch(`http://127.0.0.1:${portOf('api')}/`)).status, 404)
  t.equal((await fetch(`http://127.0.0.1:${portOf('api')}/metrics`, { method: 'POST' })).status, 404)
  for (const one of processes) t.equal(await one.stop(), 0, one.name)
})

t.test('a process can have 3,000 time series at most, whatever clients and servers send', async (t) => {
  for (const name of ['api', 'relay', 'returns', 'delivery']) {
    const rows = (Object.values(METRIC_TABLE) as MetricRow[]).filter(
      ({ processes }) => !processes || processes.includes(name),
    )
    // Node's own are some 60.
    const most = rows.reduce((sum, row) => sum + seriesOf(row), 100)
    t.ok(most < BUDGET, `${name}: ${most}`)
  }
  const metrics = await startMetrics({ process: 'delivery', version: '1' })
  for (let at = 0; at < 60; at++) count('attempts_total', { outcome: 'delivered', provider: `provider-${at}` })
  const samples = parse(await metrics.text())
  metrics.close()
  t.equal([...samples.keys()].filter((key) => key.includes('provider="provider-')).length, 50)
  t.equal(samples.get('postrider_attempts_total{outcome="delivered",provider="other"}'), 10)
})
