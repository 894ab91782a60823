import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { selfSigned } from '../delivery/authority.ts'
import { REPORTS_TO, startTlsInternet, TLS_CASES } from '../delivery/tls-cases.ts'
import { startTlsServer } from '../delivery/tls-server.ts'
import { tlsaOf } from '../delivery/tlsa.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

/**
 * Reads the mails that are its arguments with Python's own parsers of mail, gzip and JSON, and verifies their signatures with dkimpy as those of TLS
 * reports (RFC 8460 3 and 5.3). The first argument is a JSON file with the DKIM records. Prints what it found, a line of JSON for each mail.
 */
const READER = `
import sys, json, gzip, email, email.policy, dkim
records = {name + '.': text.encode() for name, text in json.load(open(sys.argv[1])).items()}
def txt(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return records.get(name if name.endswith('.') else name + '.')
for path in sys.argv[2:]:
    raw = open(path, 'rb').read()
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    parts = list(mail.iter_parts())
    verifier = dkim.DKIM(raw, tlsrpt=True)
    signed = verifier.verify(dnsfunc=txt)
    content = parts[1].get_content()
    print(json.dumps({
        'defects': [str(d) for part in mail.walk() for d in part.defects],
        'type': mail.get_content_type(), 'reportType': mail['content-type'].params.get('report-type'),
        'types': [part.get_content_type() for part in parts], 'disposition': parts[1].get_content_disposition(),
        'filename': parts[1].get_filename(), 'from': mail['from'].addresses[0].addr_spec, 'to': mail['to'].addresses[0].addr_spec,
        'subject': mail['subject'], 'domain': mail['tls-report-domain'], 'submitter': mail['tls-report-submitter'],
        'date': mail['date'].datetime.isoformat(), 'signed': signed, 'signer': verifier.domain.decode(),
        'length': b'l' in verifier.signature_fields,
        'covered': [name.decode().lower() for name in verifier.include_headers],
        'report': json.loads(gzip.decompress(content)),
    }))
`
/** Reads the files that are its arguments as parsedmarc does, with which many domains read the TLS reports they get. Prints them in the names of RFC 8460. */
const PARSEDMARC = `
import sys, json, parsedmarc
for path in sys.argv[1:]:
    report = parsedmarc.parse_smtp_tls_report_json(open(path).read())
    print(json.dumps({'report-id': report['report_id'], 'policies': [{
        'policy': {'policy-type': policy['policy_type'], 'policy-domain': policy['policy_domain']},
        'summary': {'total-successful-session-count': policy['successful_session_count'], 'total-failure-session-count': policy['failed_session_count']},
        'failure-details': [{
            'result-type': one['result_type'], 'sending-mta-ip': one['sending_mta_ip'],
            'receiving-mx-hostname': one['receiving_mx_hostname'], 'failed-session-count': one['failed_session_count'],
        } for one in policy['failure_details']],
    } for policy in report['policies']]}))
`
/** Debian's, which has Debian's packages. */
const PYTHON = '/usr/bin/python3'
const has = (module: string): boolean => {
  try {
    execFileSync(PYTHON, ['-c', `import ${module}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const SKIP = !has('dkim') && 'dkimpy not found: apt-get install --no-install-recommends python3-dkim'
/** Debian has no package of it. PYTHONPATH may say where it is. */
const HAS_PARSEDMARC = has('parsedmarc')
const SERVICE = 'post.example'

interface Report {
  readonly 'report-id': string
  readonly policies: readonly {
    readonly policy: Readonly<Record<string, unknown>>
    readonly summary: Readonly<Record<string, number>>
    readonly 'failure-details': readonly Readonly<Record<string, string | number>>[]
  }[]
}

interface Read {
  readonly [part: string]: unknown
  readonly domain: string
  readonly covered: readonly string[]
  readonly report: Report
}

interface Count {
  readonly policy_domain: string
  readonly policy_type: string
  readonly result: string
  readonly mx: string
  readonly sessions: number
  readonly day: string
}

/** KEEP_REPORTS names a folder for the mails, reports and counts, which other readers can then be given. */
const folder = process.env.KEEP_REPORTS ?? mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'reports-'))

t.test('other programs read TLS reports as the database has them', { skip: SKIP, timeout: 300_000 }, async (t) => {
  const internet = await startTlsInternet(t, { SERVICE_DOMAIN: SERVICE })
  const { service, dns, sender } = internet
  dns.zones['relay.test'] = { a: ['192.0.2.1'], aaaa: ['2001:db8::1'] }
  await service.giveKey(SERVICE)
  await service.core.domains.add({ accountId: sender.accountId, name: SERVICE, state: 'active' })
  const inbox = await startSink(t, { host: internet.newAddress(), port: internet.port })
  dns.zones['mx.inbox.example'] = { a: [inbox.host] }
  dns.zones['inbox.example'] = { mx: [[10, 'mx.inbox.example']] }

  const own = await selfSigned('x.example')
  const hostOf = async (name: string, tlsa: readonly string[]): Promise<string> => {
    const at = { host: internet.newAddress(), port: internet.port }
    await startTlsServer(t, at, { context: own })
    dns.zones[name] = { a: [at.host] }
    if (tlsa.length > 0) dns.zones[`_${internet.port}._tcp.${name}`] = { tlsa }
    return name
  }
  const wrong = await hostOf('mx1.mixed.example', [`3 1 1 ${'ab'.repeat(32)}`])
  const good = await hostOf('mx2.mixed.example', [tlsaOf(own.cert, 3, 1, 1)])
  const plain = await hostOf('mx3.mixed.example', [])
  const domains = [
    [wrong, good],
    [wrong, plain],
  ].map((names) => internet.domain(names.map((name) => ({ name }))))
  for (const name of domains) {
    dns.zones[`_smtp._tls.${name}`] = { txt: [`v=TLSRPTv1; rua=mailto:${REPORTS_TO}`] }
    await internet.inState(await internet.send(`a@${name}`), 'delivered')
  }
  for (const [given] of Object.values(TLS_CASES)) {
    const domain = await internet.domainOf(t, given)
    domains.push(domain)
    const settings = given.asks === undefined ? {} : { settings: { tls: given.asks } }
    await internet.attempted(await internet.send(`a@${domain}`, settings))
  }
  await internet.worker.stop()
  const counts = await service.sql<Count[]>`
    select policy_domain, policy_type, result, mx, sessions::int as sessions, day::text as day from tls_results order by 1, 2, 3, 4`
  await service.sql`update tls_report_days set due_at = service_now()`
  const worker = await openWorker(t, service)
  await until('all reports', () => inbox.messages.length >= domains.length, 120_000)
  await worker.stop()
  t.equal(inbox.messages.length, domains.length, 'one mail for each domain')

  const records: Record<string, string> = {}
  for (const { host, value } of (await service.core.domains.show(SERVICE))?.dns ?? []) records[host] = value
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'records.json'), JSON.stringify(records))
  writeFileSync(join(folder, 'counts.json'), JSON.stringify(counts))
  const files = inbox.messages.map(({ data }, at) => {
    const file = join(folder, `${at}.eml`)
    writeFileSync(file, data)
    return file
  })
  const read = run<Read>(READER, [join(folder, 'records.json'), ...files])
  const reports = read.map(({ report }, at) => {
    const file = join(folder, `${at}.json`)
    writeFileSync(file, JSON.stringify(report))
    return file
  })
  const others = HAS_PARSEDMARC ? run<Report>(PARSEDMARC, reports) : []
  t.equal(others.length, HAS_PARSEDMARC ? reports.length : 0, 'parsedmarc reads each')
  t.strictSame(read.map(({ domain }) => domain).sort(), [...domains].sort())

  const day = counts[0]?.day ?? ''
  const begin = Date.parse(`${day}T00:00:00Z`) / 1000
  for (const [at, { domain, report, covered, subject, date, filename, ...form }] of read.entries()) {
    t.match(
      { ...form, filename, subject },
      {
        defects: [],
        type: 'multipart/report',
        reportType: 'tlsrpt',
        types: ['text/plain', 'application/tlsrpt+gzip'],
        disposition: 'attachment',
        filename: `${SERVICE}!${domain}!${begin}!${begin + 86_399}.json.gz`,
        from: `noreply@${SERVICE}`,
        to: REPORTS_TO,
        subject: `Report Domain: ${domain} Submitter: ${SERVICE} Report-ID: <${day}.${domain}@${SERVICE}>`,
        submitter: SERVICE,
        signed: true,
        signer: SERVICE,
        length: false,
      },
      `the mail about ${domain}`,
    )
    for (const field of ['from', 'to', 'subject', 'content-type']) t.ok(covered.includes(field), `${field} is signed`)
    const own = counts.filter(({ policy_domain }) => policy_domain === domain)
    const sum = (rows: readonly Count[]) => rows.reduce((total, { sessions }) => total + sessions, 0)
    const held = [...Map.groupBy(own, ({ policy_type }) => policy_type)].flatMap(([type, rows]) => {
      const failed = rows.filter(({ result }) => result !== '')
      return [
        `${type} ${sum(rows) - sum(failed)} ${sum(failed)}`,
        ...failed.map(({ result, mx, sessions }) => `${type} ${result} ${mx} ${sessions}`),
      ]
    })
    t.strictSame(figuresOf(t, domain, report), held.sort(), `the figures of ${domain}`)
    const other = others[at]
    if (other) t.strictSame(figuresOf(t, domain, other), held, `the figures of ${domain} in parsedmarc`)
  }
  const results = new Set(counts.map(({ result }) => result))
  t.comment(
    `figures: ${read.length} reports, ${others.length} of them read by parsedmarc, ${counts.length} counts, ${results.size - 1} types of failure`,
  )
})

/** Runs a program that prints a line of JSON for each of its results. */
function run<T>(program: string, files: readonly string[]): T[] {
  const output = execFileSync(PYTHON, ['-c', program, ...files], { encoding: 'utf8' })
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
}

/** The counts of a report, a line for each policy and each failure, sorted. */
function figuresOf(t: Test, domain: string, { policies }: Report): string[] {
  const figures = policies.flatMap(({ policy, summary, 'failure-details': details }) => {
    const type = policy['policy-type']
    t.equal(policy['policy-domain'], domain)
    return [
      `${type} ${summary['total-successful-session-count']} ${summary['total-failure-session-count']}`,
      ...details.map((one) => {
        t.equal(one['sending-mta-ip'], '192.0.2.1', 'the address of HELO_NAME')
        return `${type} ${one['result-type']} ${one['receiving-mx-hostname']} ${one['failed-session-count']}`
      }),
    ]
  })
  return figures.sort()
}
