import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { bounceReport } from '../../delivery/reports.ts'
import { isInTime } from '../../helpers/pace.ts'
import { startProcess } from '../../helpers/processes.ts'
import { makeService } from '../../helpers/service.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import {
  type Attached,
  googleReport,
  gzipped,
  plain,
  reportMail,
  tlsReport,
  zipOf,
  zipped,
} from './aggregate-reports.ts'

const MB = 1024 * 1024
/** Milliseconds in which a bounce report gets its reply, on a busy machine too; the reports before it take many seconds. */
const IN_TIME_MS = 2000
/** Of the whole process, of which 130 MB are there at its start. */
const MAX_RSS_MB = 450

const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test' })
const { core, config, env } = service
const { domain } = await service.makeSender()
const receiver = await startProcess(t, 'returns', { ...env })

async function mail(t: Test, to: string, message: Buffer | string): Promise<string> {
  const client = await SmtpClient.connect(t, { port: config.returnsPort })
  await client.reply()
  await client.command('EHLO mx.google.com')
  const reply = await client.submit('', to, message)
  client.destroy()
  return reply
}

const newest = async () => (await core.returns.list({ limit: 1 }))[0]
const peakMegabytes = () =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${receiver.pid}/status`, 'utf8'))?.[1]) / 1024

const report = googleReport({ domain })
const [head = '', tail = ''] = [report.slice(0, report.indexOf('  <record>')), '</feedback>\n']
const record = report.slice(head.length, report.indexOf(tail))
/** Does not compress well. */
const noise = (octets: number) => randomBytes(octets / 2).toString('hex')
/** A report of exactly this size, which compresses to more than a hundredth of it. */
function sized(octets: number): Buffer {
  const element = () => `<x>${noise(1000)}</x>${' '.repeat(19_000)}`
  const elements = Array.from({ length: Math.floor(octets / 20_100) }, element).join('')
  return Buffer.from(head + elements + ' '.repeat(octets - head.length - tail.length - elements.length) + tail)
}
const records = (count: number) =>
  Array.from({ length: count }, () => {
    const ip = [...randomBytes(4)].join('.')
    return `<record><row><source_ip>${ip}</source_ip><count>1</count></row></record>`
  }).join('')
const nested = (depth: number) => `${head}${'<x>'.repeat(depth)}${'</x>'.repeat(depth)}${tail}`
const withDoctype = (doctype: string, text: string) =>
  report.replace('<feedback>', `${doctype}<feedback>`).replace('google.com</org_name>', `${text}</org_name>`)
const lol = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('')

const TOO_LARGE = 'report-too-large'
const MALFORMED = 'report-malformed'
const CASES: readonly (readonly [name: string, attached: () => Attached, why: string])[] = [
  ['50 MiB + 1 of gzip', () => gzipped(sized(50 * MB + 1)), TOO_LARGE],
  ['50 MiB + 1 of zip', () => zipped(sized(50 * MB + 1)), TOO_LARGE],
  ['20 MB in a thousandth of them', () => gzipped(Buffer.alloc(20 * MB, ' ')), TOO_LARGE],
  ['the same in zip', () => zipped(Buffer.alloc(20 * MB, ' ')), TOO_LARGE],
  ['a gigabyte', () => gzipped(Buffer.concat(Array<Buffer>(20).fill(gzipSync(Buffer.alloc(50 * MB))))), MALFORMED],
  ['a gigabyte in many members', () => many(gzipSync(Buffer.alloc(50 * MB)), 20), TOO_LARGE],
  ['two files in zip', () => ({ octets: zipOf([report, report]), name: 'a.zip' }), MALFORMED],
  ['no file in zip', () => ({ octets: Buffer.concat([zipOf([]), zipOf([])]), name: 'a.zip' }), 'no-report'],
  ['a zip that says it is smaller', () => ({ octets: zipOf([report], { size: 10 }), name: 'a.zip' }), MALFORMED],
  ['a zip that says it is larger', () => ({ octets: zipOf([report], { size: 10 * MB }), name: 'a.zip' }), MALFORMED],
  ['a zip that says it is huge', () => ({ octets: zipOf([report], { size: 2 ** 32 - 2 }), name: 'a.zip' }), TOO_LARGE],
  ['half a zip', () => ({ octets: zipOf([report]).subarray(0, 300), name: 'a.zip' }), MALFORMED],
  ['half a gzip', () => ({ octets: half(gzipSync(report)), name: 'a.gz' }), MALFORMED],
  ['a gzip with an altered octet', () => ({ octets: altered(gzipSync(report)), name: 'a.gz' }), MALFORMED],
  ['a DOCTYPE', () => gzipped(withDoctype('<!DOCTYPE feedback>', 'google.com')), MALFORMED],
  ['a billion laughs', () => gzipped(withDoctype(`<!DOCTYPE f [<!ENTITY l0 "ha">${lol}]>`, '&l9;')), MALFORMED],
  ['a file by an entity', () => gzipped(withDoctype('<!DOCTYPE f SYSTEM "file:///etc/passwd">', 'x')), MALFORMED],
  ['an unknown entity', () => gzipped(withDoctype('', '&passwd;')), MALFORMED],
  ['depth 10,000', () => gzipped(nested(10_000)), MALFORMED],
  ['100,001 records', () => gzipped(head + records(100_001) + tail), TOO_LARGE],
  ['a text of 4 MB', () => gzipped(`${head}<x>${noise(4 * MB)}</x>${tail}`), MALFORMED],
  ['an attribute of 4 MB', () => gzipped(`${head}<x a="${noise(4 * MB)}"/>${tail}`), MALFORMED],
  ['an element name of 4 MB', () => gzipped(`${head}<x${noise(4 * MB)}/>${tail}`), MALFORMED],
  ['not UTF-8', () => gzipped(Buffer.from(report.replace('google.com', 'g\xf6\xf6gle.com'), 'latin1')), MALFORMED],
  ['half of UTF-16', () => gzipped(Buffer.from(`\ufeff${report}`, 'utf16le').subarray(0, -1)), MALFORMED],
  ['an unknown encoding', () => gzipped(report.replace('UTF-8', 'x-navy')), MALFORMED],
  ['half a report', () => plain(report.slice(0, report.length / 2)), MALFORMED],
  ['another kind of XML', () => plain('<html></html>'), MALFORMED],
  ['a negative count', () => plain(report.replace('<count>1<', '<count>-1<')), MALFORMED],
  ['a count beyond all mail', () => plain(report.replace('<count>1<', '<count>99999999999999999999<')), MALFORMED],
  ['a report of the future', () => plain(googleReport({ domain, daysAgo: -5 })), MALFORMED],
  ['a report of last year', () => plain(googleReport({ domain, daysAgo: 365 })), MALFORMED],
  ['no id', () => plain(report.replace(/<report_id>.*<\/report_id>/, '')), MALFORMED],
  ['no attachment', () => ({ octets: Buffer.from('hello'), type: 'image/png', name: 'a.png' }), 'no-report'],
  ['JSON with a depth of a million', () => gzipped(`{"a":${'['.repeat(1_000_000)}`), MALFORMED],
  ['JSON of 11 MB', () => gzipped(`{"a":"${noise(11 * MB)}"}`), TOO_LARGE],
  ['JSON of another kind', () => gzipped('{"policies":[[]],"date-range":[]}'), MALFORMED],
  ['a thousand TLS policies', () => gzipped(JSON.stringify(manyPolicies())), TOO_LARGE],
]

function many(octets: Buffer, times: number): Attached {
  return { octets: Buffer.concat(Array<Buffer>(times).fill(octets)), name: 'a.gz' }
}
function half(octets: Buffer): Buffer {
  return octets.subarray(0, octets.length / 2)
}
function altered(octets: Buffer): Buffer {
  const at = octets.length >> 1
  octets[at] = (octets[at] as number) ^ 0x55
  return octets
}
function manyPolicies() {
  const one = tlsReport({ domain })
  return { ...one, policies: Array.from({ length: 1000 }, () => one.policies[0]) }
}

/** Packed when it is needed, as they are large. */
for (const [name, attached, why] of CASES) {
  t.test(`not recorded: ${name}`, async (t) => {
    t.match(await mail(t, 'dmarc@bounces.test', reportMail(attached())), /^250 /)
    // Only what could not be read is kept.
    const isKept = why === MALFORMED && !name.startsWith('a report of')
    t.match(await newest(), { effect: 'none', why, role: 'dmarc', isKept })
    const found = await core.aggregateReports.showDmarc({ name: domain, days: 14 })
    t.match(found, { reports: 0, unauthenticated: 0 })
  })
}

t.test('a message beyond 10 MiB is refused', async (t) => {
  const reply = await mail(t, 'dmarc@bounces.test', reportMail({ octets: randomBytes(8 * MB) }))
  t.match(reply, /^552 5\.3\.4 /)
})

t.test('at the limits, a report is recorded', async (t) => {
  const limits = {
    '50 MiB of gzip': () => gzipped(sized(50 * MB)),
    '50 MiB of zip': () => zipped(sized(50 * MB)),
    '100,000 records': () => gzipped(head + records(100_000) + tail),
    'a thousand equal records': () => gzipped(head + record.repeat(1000) + tail),
  }
  for (const [name, attached] of Object.entries(limits)) {
    await service.sql`delete from dmarc_reports`
    t.match(await mail(t, 'dmarc@bounces.test', reportMail(attached())), /^250 /, name)
    t.match(await core.aggregateReports.showDmarc({ name: domain, days: 14 }), { unauthenticated: 1 }, name)
  }
  const [stored] = await service.sql<{ messages: number; rows: number }[]>`
    select messages::int as messages, rows from dmarc_reports`
  t.strictSame({ ...stored }, { messages: 1000, rows: 1 })
  await service.sql`delete from dmarc_reports`
})

t.test('a bounce report does not wait for reports, however large', async (t) => {
  const address = () =>
    `${core.deliveries.returnPath({ messageId: randomUUID().replaceAll('-', ''), recipientNo: 0 }, Date.now())}@bounces.test`
  const message = reportMail(gzipped(sized(50 * MB)))
  let pending = 4
  const reports = Array.from({ length: pending }, async () => {
    const reply = await mail(t, 'dmarc@bounces.test', message)
    pending--
    return reply
  })
  let bounces = 0
  for (; pending > 0; bounces++) {
    const to = address()
    const before = performance.now()
    t.match(await mail(t, to, bounceReport(to)), /^250 /)
    t.ok(isInTime(before, IN_TIME_MS), `${(performance.now() - before).toFixed(0)} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.ok(bounces >= 5, 'meanwhile')
  for (const reply of await Promise.all(reports)) t.match(reply, /^250 /)
})

t.test('more reports at once from one network than four have to be sent again', async (t) => {
  const clients = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const client = await SmtpClient.connect(t, { port: config.returnsPort })
      await client.reply()
      await client.command('EHLO mx.google.com')
      await client.begin('', 'dmarc@bounces.test')
      return client
    }),
  )
  // The fifth is the one whose DATA came last; a bounce is taken all the same.
  const replies = await Promise.all(clients.map((client) => client.finish(reportMail(plain('<html/>')))))
  t.strictSame(replies.map((reply) => reply.slice(0, 3)).sort(), ['250', '250', '250', '250', '452'])
})

t.test('of one domain, the rows that one day stores are bounded', async (t) => {
  await service.sql`delete from dmarc_reports`
  const of = () =>
    gzipped(googleReport({ domain, rows: Array.from({ length: 200 }, (_, at) => ({ ip: `10.1.0.${at}` })) }))
  for (let at = 0; at < 25; at++) t.match(await mail(t, 'dmarc@bounces.test', reportMail(of())), /^250 /)
  t.match(await newest(), { why: 'report-limit' })
  const [stored] = await service.sql`select count(*)::int as reports, sum(rows)::int as rows from dmarc_reports`
  t.strictSame({ ...stored }, { reports: 20, rows: 2000 }, 'a hundred of each')
})

t.test('the process has used little memory for all of this, and no thread has crashed', async (t) => {
  const most = peakMegabytes()
  t.ok(most < MAX_RSS_MB, `${most.toFixed(0)} MB`)
  const errors = receiver.log.filter(({ level }) => Number(level) >= 50)
  t.strictSame(errors, [])
})
