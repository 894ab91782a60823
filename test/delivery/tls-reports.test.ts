import { createServer } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { simpleParser } from 'mailparser'
import t from 'tap'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { TLS_RESULTS, type TlsSession } from '../../packages/core/src/delivery/tls/results.ts'
import { parseTlsRpt } from '../../packages/core/src/delivery/tls/tlsrpt-record.ts'
import { buildTlsReport } from '../../packages/core/src/reporting/tls-reports/build.ts'
import { readCounts } from '../../packages/core/src/reporting/tls-reports/index.ts'
import { readTls } from '../../packages/core/src/returns/aggregate/read/read-tls.ts'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { type IssuedCertificate, makeAuthority, selfSigned } from './authority.ts'
import { startInternetProcess } from './outbox.ts'
import { startTlsServer } from './tls-server.ts'
import { tlsaOf } from './tlsa.ts'

const SERVICE = 'post.example'
const authority = await makeAuthority()
const [httpsPort = 0] = await freePorts(1)
const internet = await startInternetProcess(
  t,
  {
    NODE_EXTRA_CA_CERTS: authority.file,
    SERVICE_DOMAIN: SERVICE,
    WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8',
    WEBHOOK_PORTS: `443,${httpsPort}`,
  },
  { isSigned: () => true },
)
const { service, dns, sender } = internet
await service.giveKey(SERVICE)
await service.core.domains.add({ accountId: sender.accountId, name: SERVICE, state: 'active' })
let hosts = 0

async function addHost(certificate: IssuedCertificate | undefined, tlsa: readonly string[] = []): Promise<string> {
  const name = `mx${++hosts}.harbor.example`
  const at = { host: internet.newAddress(), port: internet.port }
  const server = await startTlsServer(t, at, certificate ? { context: certificate } : {})
  dns.zones[name] = { a: [server.host] }
  if (tlsa.length > 0) dns.zones[`_${internet.port}._tcp.${name}`] = { tlsa }
  return name
}

/** What the HTTPS address of reports got, by content type. */
async function startReceiver() {
  const name = 'reports.example'
  const address = internet.newAddress()
  const got: { readonly type: string; readonly body: Buffer }[] = []
  let failures = 0
  const server = createServer(await authority.issue([name]), async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (failures-- > 0) return void response.writeHead(503).end()
    got.push({ type: request.headers['content-type'] ?? '', body: Buffer.concat(chunks) })
    response.writeHead(201).end()
  })
  await new Promise<void>((resolve) => server.listen(httpsPort, address, resolve))
  t.teardown(() => server.close())
  dns.zones[name] = { a: [address] }
  return { got, url: `https://${name}:${httpsPort}/tls`, failNext: (count: number) => (failures = count) }
}

t.test('the domains that ask for it get a report of the day, by mail and HTTPS, once', async (t) => {
  const own = await selfSigned('x.example')
  const good = await addHost(own, [tlsaOf(own.cert, 3, 1, 1)])
  const wrong = await addHost(own, [`3 1 1 ${'ab'.repeat(32)}`])
  const plain = await addHost(undefined)
  const receiver = await startReceiver()
  const inbox = await startSink(t, { host: internet.newAddress(), port: internet.port })
  dns.zones['mx.inbox.example'] = { a: [inbox.host] }
  // Its own records are not met: a report must arrive all the same.
  dns.zones[`_${internet.port}._tcp.mx.inbox.example`] = { tlsa: [`3 1 1 ${'ab'.repeat(32)}`] }
  dns.zones['inbox.example'] = { mx: [[10, 'mx.inbox.example']] }
  dns.zones['_smtp._tls.inbox.example'] = { txt: ['v=TLSRPTv1; rua=mailto:tls@inbox.example'] }
  const domain = internet.domain([{ name: wrong }, { name: good }])
  const bare = internet.domain([{ name: plain }])
  const silent = internet.domain([{ name: plain }])
  dns.zones[`_smtp._tls.${domain}`] = { txt: [`v=TLSRPTv1; rua=mailto:tls@inbox.example,${receiver.url}`] }
  dns.zones[`_smtp._tls.${bare}`] = { txt: [`v=TLSRPTv1;rua=${receiver.url}`] }
  for (const name of [domain, bare, silent]) await internet.inState(await internet.send(`a@${name}`), 'delivered')
  receiver.failNext(1)
  await internet.worker.stop()
  const rows = await service.sql`select policy_domain, result, sessions::int as sessions from tls_results order by 1, 2`
  t.strictSame(
    [...rows],
    [
      { policy_domain: domain, result: '', sessions: 1 },
      { policy_domain: domain, result: 'validation-failure', sessions: 1 },
      { policy_domain: bare, result: 'starttls-not-supported', sessions: 1 },
    ].sort((a, b) => (`${a.policy_domain} ${a.result}` < `${b.policy_domain} ${b.result}` ? -1 : 1)),
    'and nothing of a domain without a record',
  )
  await service.sql`update tls_report_days set due_at = service_now() where policy_domain in (${domain}, ${bare})`
  const worker = await startProcess(t, 'delivery', service.env)
  await until('the mail', () => inbox.messages.length > 0, 60_000)
  await until('the reports by HTTPS', () => receiver.got.length > 0, 60_000)
  await worker.stop()
  // As if it had been killed before it noted what it had sent.
  await service.sql`update tls_report_days set due_at = service_now(), sent = '{}' where policy_domain in (${domain}, ${bare})`
  const again = await startProcess(t, 'delivery', service.env)
  await until('both reports by HTTPS', () => receiver.got.length > 2, 60_000)
  await until('the end', async () => {
    const [{ left = 1 } = {}] = await service.sql<{ left: number }[]>`
      select count(*)::int as left from tls_report_days where due_at is not null`
    return left === 0
  })
  await again.stop()
  t.equal(inbox.messages.length, 1, 'one mail, although its report was sent again')
  t.equal(receiver.got.length, 3)
  t.strictSame([...new Set(receiver.got.map(({ type }) => type))], ['application/tlsrpt+gzip'])

  const mail = await simpleParser(Buffer.from(inbox.messages[0]?.data ?? ''))
  const [attached] = mail.attachments
  t.match(mail.headers.get('content-type'), { value: 'multipart/report', params: { 'report-type': 'tlsrpt' } })
  t.equal(mail.headers.get('tls-report-domain'), domain)
  t.equal(mail.headers.get('tls-report-submitter'), SERVICE)
  t.equal(mail.headers.get('tls-required'), 'No')
  t.match(mail.subject, new RegExp(`^Report Domain: ${domain} Submitter: ${SERVICE} Report-ID: <\\S+>$`))
  t.match(mail.headers.get('dkim-signature'), { params: { d: SERVICE } })
  t.equal(attached?.contentType, 'application/tlsrpt+gzip')
  t.match(attached?.filename, new RegExp(`^${SERVICE}!${domain}!\\d+!\\d+\\.json\\.gz$`))
  const report = readTls(gunzipSync(attached?.content ?? ''))
  t.match(report, {
    organization: SERVICE,
    emailDomain: SERVICE,
    policies: [
      {
        type: 'tlsa',
        domain,
        successful: 1,
        failed: 1,
        failures: [{ resultType: 'validation-failure', receivingMx: wrong, failed: 1 }],
      },
    ],
  })
  t.equal(report.end - report.begin, 86_399)
  const byHttps = receiver.got.map(({ body }) => readTls(gunzipSync(body)))
  t.strictSame([...new Set(byHttps.map(({ policies }) => policies[0]?.domain))].sort(), [bare, domain].sort())
  t.equal(new Set(byHttps.map(({ reportId }) => reportId)).size, 2)
  t.ok(
    byHttps.some(({ reportId }) => reportId === report.reportId),
    'the same report has the same id',
  )
  t.strictSame(
    [...(await service.sql`select policy_domain from tls_results where policy_domain = 'inbox.example'`)],
    [],
    'sessions for reports are not counted',
  )
})

t.test('a report is given up after a day, and counts are deleted after a week', async (t) => {
  await service.sql`
    insert into tls_report_days (day, policy_domain, rua, due_at)
    values ((service_now() at time zone 'UTC')::date, 'gone.example', '{https://gone.example/}', service_now())`
  await service.sql`update tls_report_days set due_at = null where policy_domain <> 'gone.example'`
  let tries = 0
  for (; tries < 20; tries++) {
    const sent = await service.core.tlsReports.sendSome()
    if (!sent) break
    t.match(sent, { policyDomain: 'gone.example', problem: 'host name has no IP address' })
    t.equal(await service.core.tlsReports.sendSome(), undefined, 'not again at once')
    await service.sql`update tls_report_days set due_at = service_now() where due_at is not null`
  }
  t.equal(tries, 7)
  t.ok((await service.core.tls.results.forgetOld()) === 0)
  await internet.advance(9 * 1440)
  t.ok((await service.core.tls.results.forgetOld()) > 0)
  t.equal(await service.core.tls.results.forgetOld(), 0)
})

/** RFC 8460 4.4, what is always there of it. */
const Text = Type.String({ minLength: 1 })
const Count = Type.Integer({ minimum: 0 })
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' })
const ReportSchema = Type.Object({
  'organization-name': Text,
  'date-range': Type.Object({ 'start-datetime': Time, 'end-datetime': Time }),
  'contact-info': Text,
  'report-id': Text,
  policies: Type.Array(
    Type.Object({
      policy: Type.Object({
        'policy-type': Type.Enum(['tlsa', 'sts', 'no-policy-found']),
        'policy-string': Type.Array(Type.String()),
        'policy-domain': Text,
      }),
      summary: Type.Object({ 'total-successful-session-count': Count, 'total-failure-session-count': Count }),
      'failure-details': Type.Array(
        Type.Object(
          {
            'result-type': Type.Enum([...TLS_RESULTS]),
            'sending-mta-ip': Text,
            'receiving-mx-hostname': Type.String(),
            'receiving-ip': Type.Optional(Text),
            'failed-session-count': Type.Integer({ minimum: 1 }),
          },
          { additionalProperties: false },
        ),
      ),
    }),
    { minItems: 1 },
  ),
})
const Report = Compile(ReportSchema)

t.test('the totals of a report are those of all failures, of which a hundred are listed', async (t) => {
  const domain = 'many.example'
  const { results } = service.core.tls
  dns.zones[`_smtp._tls.${domain}`] = { txt: ['v=TLSRPTv1; rua=https://gone.example/'] }
  dns.zones['relay.test'] = { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] }
  const failed = { policyType: 'sts', result: 'certificate-expired', mx: 'mx.many.example' } as const
  const count = (session: TlsSession, times: number) => {
    for (let at = 0; at < times; at++) results.count(domain, session)
  }
  count({ policyType: 'tlsa', result: 'tlsa-invalid', mx: 'mx6.many.example', receivingIp: '2001:db8::25' }, 7)
  count({ policyType: 'no-policy-found', result: undefined, mx: 'mx.many.example', receivingIp: '127.9.2.1' }, 3)
  for (let at = 1; at <= 130; at++) count({ ...failed, receivingIp: `127.9.2.${at}` }, 2)
  await results.flush()
  // Counted by an older version, which keeps no addresses.
  await service.sql`
    insert into tls_results select day, policy_domain, 'sts', 'validation-failure', mx, 9 from tls_results
     where policy_domain = ${domain} and policy_type = 'tlsa'`
  const name = { day: '2030-01-31', policyDomain: domain, submitter: SERVICE }
  const [{ day = '' } = {}] = await service.sql<{ day: string }[]>`
    select day::text as day from tls_report_days where policy_domain = ${domain}`
  const counts = await readCounts(service.sql, { day, policyDomain: domain })
  const report = buildTlsReport({ ...name, ...counts, ownAddresses: ['192.0.2.1', '2001:db8::1'] })
  t.strictSame([...Report.Errors(report)], [], 'the form of RFC 8460')
  const { policies } = report as Static<typeof ReportSchema>
  t.strictSame(
    policies.map(({ policy, summary, ...rest }) => [
      policy['policy-type'],
      summary['total-successful-session-count'],
      summary['total-failure-session-count'],
      rest['failure-details'].length,
    ]),
    [
      ['no-policy-found', 3, 0, 0],
      ['sts', 0, 269, 99],
      ['tlsa', 0, 7, 1],
    ],
  )
  const [most, next] = policies[1]?.['failure-details'] ?? []
  t.match([most, next], [{ 'failed-session-count': 64, 'receiving-mx-hostname': '' }, { 'failed-session-count': 9 }])
  t.equal(policies[2]?.['failure-details'][0]?.['sending-mta-ip'], '2001:db8::1', 'the address of the same version')
})

t.test('the addresses of a record are read', async (t) => {
  for (const [texts, expected] of [
    [['v=TLSRPTv1; rua=mailto:a@b.example'], ['mailto:a@b.example']],
    [['v=TLSRPTv1;rua=https://b.example/x , mailto:a@b.example;'], ['https://b.example/x', 'mailto:a@b.example']],
    [['other', 'v=TLSRPTv1; rua=mailto:a@b.example'], ['mailto:a@b.example']],
    [['v=TLSRPTv1; rua=mailto:a@b.example', 'v=TLSRPTv1; rua=mailto:c@b.example'], []],
    [['v=TLSRPTv1; rua=http://b.example/,ftp://b.example,mailto:a,mailto:a@b?cc=c@d'], []],
    [['v=TLSRPTv12; rua=mailto:a@b.example'], []],
    [['v=TLSRPTv1'], []],
    [[`v=TLSRPTv1; rua=${'mailto:a@b.example,'.repeat(50)}`], Array(3).fill('mailto:a@b.example')],
    [[], []],
  ] as const)
    t.strictSame(parseTlsRpt(texts), expected, texts.join(' '))
})
