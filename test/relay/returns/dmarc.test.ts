import { OPERATOR } from '@postrider/core'
import t, { type Test } from 'tap'
import { postrider } from '../../cli/postrider.ts'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import {
  type Attached,
  createSigningKey,
  fastmailReport,
  googleReport,
  gzipped,
  microsoftReport,
  plain,
  reportMail,
  yahooReport,
  zipOf,
  zipped,
} from './aggregate-reports.ts'

const google = createSigningKey('google.com')
const microsoft = createSigningKey('microsoft.com')
const yahoo = createSigningKey('dmarc.yahoo.com')
const fastmail = createSigningKey('fastmaildmarc.com')
const evil = createSigningKey('evil.example')
const dns = await startDns(t, {
  'relay.test': { a: ['192.0.2.1'] },
  ...google.zones,
  ...microsoft.zones,
  ...yahoo.zones,
  ...fastmail.zones,
  ...evil.zones,
})
const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test', DNS_SERVERS: dns.address })
const { core, config, sql } = service
await service.openReturns()

async function mail(t: Test, message: Buffer, to = 'dmarc@bounces.test'): Promise<string> {
  const client = await SmtpClient.connect(t, { port: config.returnsPort })
  t.match(await client.reply(), /^220 /)
  t.match(await client.command('EHLO mx.google.com'), /^250-/)
  return client.submit('', to, message)
}

/** Mails a report that Google has signed. */
async function mailSigned(t: Test, attached: Attached): Promise<string> {
  return mail(t, await google.sign(reportMail(attached)))
}

async function summary(name: string, days = 14) {
  const found = await core.aggregateReports.showDmarc({ name, days })
  if (!found) throw new Error(`no domain ${name}`)
  return found
}

const ofZip = (files: Parameters<typeof zipOf>[0]): Attached => ({
  octets: zipOf(files),
  name: 'google.com!ship.example!1!2.zip',
})

const newest = async () => (await core.returns.list({ limit: 1 }))[0]

t.test('a signed report is recorded, with the rows of this service and others', async (t) => {
  const { domain } = await service.makeSender()
  const rows = [
    { ip: '192.0.2.1', count: 90 },
    { ip: '192.0.2.1', count: 10, dkim: 'fail', spf: 'fail' },
    { ip: '198.51.100.7', count: 30, dkim: 'fail', spf: 'fail' },
    { ip: '198.51.100.8', count: 4, dkim: 'pass', spf: 'fail' },
  ] as const
  t.match(await mailSigned(t, gzipped(googleReport({ domain, rows }))), /^250 2\.0\.0 /)
  t.match(await summary(domain), {
    reports: 1,
    unauthenticated: 0,
    ours: { messages: 100, aligned: 90 },
    others: { messages: 34, aligned: 4 },
    policy: { p: 'none', adkim: 'r', np: 'none' },
    reporters: [{ reporter: 'google.com', organization: 'google.com', reports: 1, messages: 134 }],
    otherSources: [
      { address: '198.51.100.7', messages: 30, aligned: 0, headerFrom: domain },
      { address: '198.51.100.8', messages: 4, aligned: 4 },
    ],
  })
})

t.test('a report is counted once, however often it is sent', async (t) => {
  const { domain } = await service.makeSender()
  const report = googleReport({ domain, rows: [{ count: 7 }] })
  for (const attached of [gzipped(report), gzipped(report), zipped(report), plain(report)])
    t.match(await mailSigned(t, attached), /^250 /)
  t.match(await summary(domain), { reports: 1, ours: { messages: 7, aligned: 7 } })
  t.match(await mailSigned(t, gzipped(googleReport({ domain, rows: [{ count: 7 }] }))), /^250 /)
  t.match(await summary(domain), { reports: 2, ours: { messages: 14, aligned: 14 } }, 'another one counts')
})

t.test('the forms of receivers are read: gzip, zip and plain, RFC 7489 and RFC 9990', async (t) => {
  const rows = [{ count: 3 }, { ip: '2001:db8:0:0:0:0:0:9', count: 2, dkim: 'fail', spf: 'fail' }] as const
  const forms = [
    { write: googleReport, pack: zipped, key: google, alone: true, from: 'noreply-dmarc-support@google.com' },
    {
      write: microsoftReport,
      pack: gzipped,
      key: microsoft,
      from: '"DMARC Aggregate Report" <dmarcreport@microsoft.com>',
    },
    {
      write: yahooReport,
      pack: (text: string) => gzipped(text, 'yahoo.com!ship.example!1!2.xml.gz'),
      key: yahoo,
      from: 'noreply@dmarc.yahoo.com',
    },
    { write: fastmailReport, pack: plain, key: fastmail, from: 'reports@fastmaildmarc.com' },
  ]
  for (const { write, pack, key, from, alone = false } of forms) {
    const { domain } = await service.makeSender()
    const message = await key.sign(reportMail(pack(write({ domain, rows })), { from, alone }))
    t.match(await mail(t, message), /^250 /)
    t.match(
      await summary(domain),
      {
        reports: 1,
        ours: { messages: 3, aligned: 3 },
        others: { messages: 2, aligned: 0 },
        policy: { p: 'none' },
        reporters: [{ reporter: key.domain }],
        otherSources: [{ address: '2001:db8::9', headerFrom: domain }],
      },
      key.domain,
    )
  }
})

t.test('archives with directories and other files, and reports in other encodings, are read', async (t) => {
  const named = (name: string, text = '') => ({ name, text })
  const declared = (xml: string, encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>\n${xml.replace(/^<\?xml[^>]*>\s*/, '')}`
  const forms: Readonly<Record<string, (xml: string) => Attached>> = {
    'a directory': (xml) => ofZip([named('reports/'), named('reports/google.com!ship.example.xml', xml)]),
    'files of macOS': (xml) =>
      ofZip([named('a.xml', xml), named('__MACOSX/._a.xml', 'Mac OS X'), named('.DS_Store', 'x')]),
    'a text beside it': (xml) => ofZip([named('README.txt', 'This is a report.'), named('REPORT.XML', xml)]),
    'backslashes in the name': (xml) => ofZip([named('out\\report.xml', xml)]),
    'a file without an ending': (xml) => ofZip([named('report', xml)]),
    'UTF-16 in little endian': (xml) => plain(Buffer.from(`\ufeff${declared(xml, 'UTF-16')}`, 'utf16le')),
    'UTF-16 in big endian': (xml) => plain(Buffer.from(`\ufeff${declared(xml, 'UTF-16')}`, 'utf16le').swap16()),
    'Latin-1': (xml) => gzipped(Buffer.from(declared(xml.replace('google.com', 'Gö\xf6gle'), 'ISO-8859-1'), 'latin1')),
    'what is UTF-8 and says UTF-16': (xml) => gzipped(declared(xml, 'utf-16')),
    'a byte order mark of UTF-8': (xml) => gzipped(`\ufeff${xml}`),
  }
  for (const [form, attach] of Object.entries(forms)) {
    const { domain } = await service.makeSender()
    t.match(await mailSigned(t, attach(googleReport({ domain, rows: [{ count: 3 }] }))), /^250 /)
    t.match(await summary(domain), { reports: 1, ours: { messages: 3 } }, form)
  }
})

t.test('a report that cannot be read is kept, so that the operator can see why', async (t) => {
  t.match(await mailSigned(t, gzipped('<feedback><report_metadata>', 'google.com!ship.example!1!2.xml.gz')), /^250 /)
  t.match(await newest(), { kind: 'unrecognised', why: 'report-malformed', role: 'dmarc', isKept: true })
  const { content } = (await core.returns.show((await newest())?.id as string)) ?? {}
  t.match(content?.toString('latin1'), /filename="google\.com!ship\.example!1!2\.xml\.gz"/)
})

t.test('a row is ours by address, by a valid signature with our key, or by SPF of our return path', async (t) => {
  const { domain, accountId } = await service.makeSender()
  const [key] = await sql<{ selector: string }[]>`
    select selector from dkim_keys k join domains d on d.id = k.domain_id where d.name = ${domain}`
  const selector = key?.selector ?? ''
  const { dns } = await core.domains.setEd25519(accountId, { name: domain, ed25519: true }, OPERATOR)
  const second = dns.find(({ algorithm }) => algorithm === 'ed25519')?.host.split('.')[0] ?? ''
  const rows = [
    { ip: '192.0.2.1', count: 1, dkim: 'fail', spf: 'fail' },
    { ip: '198.51.100.1', count: 10, spf: 'fail', signed: [domain, selector] },
    { ip: '198.51.100.2', count: 100, dkim: 'fail', spf: 'fail', spfDomain: 'bounces.test' },
    { ip: '198.51.100.3', count: 1000, dkim: 'fail', spfDomain: `pr-bounces.${domain}` },
    { ip: '198.51.100.4', count: 10_000, spf: 'fail', signed: [domain, 'other'] },
    { ip: '198.51.100.5', count: 100_000, spf: 'fail', signed: ['ship.test', selector] },
    { ip: '198.51.100.6', count: 1_000_000, spf: 'fail', signed: [domain, second] },
  ] as const
  t.match(await mailSigned(t, gzipped(googleReport({ domain, rows }))), /^250 /)
  t.match(await summary(domain), {
    ours: { messages: 1_001_111, aligned: 1_001_010 },
    others: { messages: 110_000, aligned: 110_000 },
  })
})

t.test('the addresses of the sources are ours', async (t) => {
  const { domain } = await service.makeSender()
  const source = { name: 'mta-7', address: '192.0.2.77', address6: '2001:db8::77', helo: 'mta-7.test', force: true }
  await core.sources.add(source)
  t.teardown(() => core.sources.remove('mta-7'))
  const rows = [
    { ip: '192.0.2.77', count: 5 },
    { ip: '2001:DB8:0:0:0:0:0:77', count: 30 },
    { ip: '192.0.2.1', count: 2 },
  ]
  t.match(await mailSigned(t, gzipped(googleReport({ domain, rows }))), /^250 /)
  t.match(await summary(domain), { ours: { messages: 35 }, others: { messages: 2 } })
})

t.test('a report of a forged or unrelated sender is kept apart', async (t) => {
  const { domain } = await service.makeSender()
  const rows = [{ count: 9 }, { ip: '198.51.100.7', count: 4, dkim: 'fail', spf: 'fail' }] as const
  const report = () => gzipped(googleReport({ domain, rows }))
  const signed = await google.sign(reportMail(report()))
  const altered = Buffer.from(signed.toString('latin1').replace('This is an', 'This was an'), 'latin1')
  const cases = {
    unsigned: reportMail(report()),
    altered,
    'signed by another domain than From': await evil.sign(reportMail(report())),
    'signed, but the report names another organization': await evil.sign(
      reportMail(report(), { from: 'dmarc@evil.example' }),
    ),
    'without a key in the DNS': await createSigningKey('mail.google.com').sign(reportMail(report())),
  }
  let count = 0
  for (const [name, message] of Object.entries(cases)) {
    t.match(await mail(t, message), /^250 /, name)
    t.match(await summary(domain), { reports: 0, unauthenticated: ++count, ours: { messages: 0 } }, name)
  }
  const { advice, reporters, otherSources } = await summary(domain)
  t.strictSame([...reporters, ...otherSources], [])
  t.match(advice, { isReady: false, text: /no authenticated report/ })
})

t.test('a report with the id of another one of a forger still counts', async (t) => {
  const { domain } = await service.makeSender()
  const of = (count: number) => gzipped(googleReport({ domain, id: `same-${domain}`, rows: [{ count }] }))
  t.match(await mail(t, reportMail(of(1))), /^250 /)
  t.match(await mailSigned(t, of(2)), /^250 /)
  t.match(await summary(domain), { reports: 1, unauthenticated: 1, ours: { messages: 2 } })
  const shown = (await postrider(service.env, 'dmarc', 'show', domain)).stdout
  t.match(shown, /Not authenticated, so not counted:\nreceived +from +name +report .*\n\S+ +\S+ +\S.* 1 +1$/m)
})

t.test('a report has to be sent again if the DNS does not answer for its signature', async (t) => {
  const { domain } = await service.makeSender()
  const away = createSigningKey('away.example')
  for (const name of Object.keys(away.zones)) dns.zones[name] = { fails: 'servfail' }
  const report = gzipped(
    googleReport({ domain, org: 'away.example', rows: [{ count: 3 }] }),
    'away.example!ship.example!1!2.xml.gz',
  )
  const message = await away.sign(reportMail(report, { from: 'dmarc@away.example' }))
  t.match(await mail(t, message), /^451 4\./)
  t.match(await summary(domain), { reports: 0, unauthenticated: 0 })
  Object.assign(dns.zones, away.zones)
  t.match(await mail(t, message), /^250 /)
  t.match(await summary(domain), { reports: 1, ours: { messages: 3 } })
})

t.test('a report about a domain that no account has changes nothing', async (t) => {
  const account = await core.accounts.create('claims')
  await core.domains.add({ accountId: account.id, name: 'claimed.example' })
  for (const domain of ['foreign.example', 'claimed.example', 'example', 'com']) {
    t.match(await mailSigned(t, gzipped(googleReport({ domain }))), /^250 /, domain)
    t.match(await newest(), { kind: 'dmarc-report', effect: 'none', why: 'other-domain', role: 'dmarc' }, domain)
  }
  const [count] = await sql`
    select count(*)::int as count from dmarc_reports where policy_domain in ('foreign.example', 'claimed.example', 'example', 'com')`
  t.equal(count?.count, 0)
})

t.test('rows belong to the account that has their domain, or the nearest one above it', async (t) => {
  const [upper, lower] = [await core.accounts.create('upper'), await core.accounts.create('lower')]
  const stranger = await service.makeSender()
  await core.domains.add({ accountId: upper.id, name: 'quay.example', state: 'active' })
  await core.domains.add({ accountId: lower.id, name: 'news.quay.example', state: 'active' })
  const rows = [
    { from: 'quay.example', count: 1 },
    { from: 'shop.quay.example', count: 10 },
    { from: 'news.quay.example', count: 100 },
    { from: 'a.news.quay.example', count: 1000 },
    { from: 'elsewhere.example', count: 10_000 },
    { from: stranger.domain, count: 100_000 },
  ]
  t.match(await mailSigned(t, gzipped(googleReport({ domain: 'quay.example', rows }))), /^250 /)
  t.match(await summary('quay.example'), { accountId: upper.id, ours: { messages: 11 }, others: { messages: 0 } })
  t.match(await summary('news.quay.example'), { accountId: lower.id, ours: { messages: 1100 } })
  t.match(await summary(stranger.domain), { reports: 0 }, 'a row of a domain that the policy does not cover')
  const other = await core.aggregateReports.showDmarc({ name: 'news.quay.example', accountId: upper.id, days: 14 })
  t.equal(other, undefined, 'another account does not see them')
  const { domain } = await service.makeSender()
  const below = googleReport({ domain: `sub.${domain}`, rows: [{ from: `x.sub.${domain}`, count: 6 }] })
  t.match(await mailSigned(t, gzipped(below)), /^250 /)
  t.match(await summary(domain), { reports: 1, ours: { messages: 6 } }, 'a policy below the domain')
})

t.test('of a large report a thousand rows are stored, and all are counted', async (t) => {
  const { domain } = await service.makeSender()
  const rows = Array.from({ length: 5000 }, (_, at) => {
    const isOurs = at === 0
    return {
      ip: isOurs ? '192.0.2.1' : `10.0.${at >> 8}.${at & 255}`,
      count: isOurs ? 1000 : at > 3000 ? 1 : 2,
      dkim: isOurs ? ('pass' as const) : ('fail' as const),
      spf: 'fail' as const,
    }
  })
  t.match(await mailSigned(t, gzipped(googleReport({ domain, rows }))), /^250 /)
  const { ours, others, otherSources } = await summary(domain)
  t.strictSame({ ours, others }, { ours: { messages: 1000, aligned: 1000 }, others: { messages: 7999, aligned: 0 } })
  t.match(otherSources[0], { address: null, messages: 7999 - 997 * 2 }, 'what is not stored by address')
  const [stored] =
    await sql`select count(*)::int as count, min(rows) as rows from dmarc_rows join dmarc_reports on id = report where policy_domain = ${domain}`
  t.strictSame({ ...stored }, { count: 1000, rows: 1000 })
})

t.test('the advice turns ready at 99 % of at least 100 own messages over 14 days', async (t) => {
  const { domain } = await service.makeSender()
  const ours = async (count: number, aligned: boolean, daysAgo = 1) => {
    const row = aligned ? { count } : ({ count, dkim: 'fail', spf: 'fail' } as const)
    t.match(await mailSigned(t, gzipped(googleReport({ domain, rows: [row], daysAgo }))), /^250 /)
    return (await summary(domain)).advice
  }
  t.match(await ours(98, true), { isReady: false, text: /only 98 messages .* at least 100/ })
  t.match(await ours(1, false), { isReady: false })
  t.match(await ours(99, false), { isReady: false, text: /49\.4 % of ours aligned over 14 days; 99 % are needed/ })
  t.match(await ours(9800, true), { isReady: false, text: /98\.9 %/ })
  t.match(await ours(2, true), { isReady: false, text: /99 % of ours aligned, but reports cover 1 of 14 days/ })
  t.match(await ours(1, true, 13.5), {
    isReady: true,
    text: 'ready for quarantine: 99 % of ours aligned over 14 days',
  })
  t.match(await ours(3, false), { isReady: false, text: /98\.9 %/ })
})

t.test('mail to dmarc@ without a report is not kept', async (t) => {
  t.match(await mail(t, Buffer.from('From: mina@quay.example\r\nSubject: Hello\r\n\r\nHow are you?\r\n')), /^250 /)
  t.match(await newest(), { kind: 'unrecognised', why: 'no-report', role: 'dmarc', isKept: false })
})

t.test('reports are deleted after REPORT_DAYS, and with their account', async (t) => {
  const [old, gone, recent] = [await service.makeSender(), await service.makeSender(), await service.makeSender()]
  for (const { domain } of [old, gone, recent])
    t.match(await mailSigned(t, gzipped(googleReport({ domain, rows: [{ count: 4 }] }))), /^250 /)
  await sql`update dmarc_reports set received_at = received_at - interval '91 days' where policy_domain = ${old.domain}`
  await sql`update accounts set state = 'deleted', deleted_at = now() where id = ${gone.accountId}`
  await core.cleanUp()
  const left = await sql<{ name: string; rows: number }[]>`
    select policy_domain as name, count(w.*)::int as rows from dmarc_reports left join dmarc_rows w on report = id
     where policy_domain in ${sql([old.domain, gone.domain, recent.domain])} group by 1`
  t.strictSame([...left], [{ name: recent.domain, rows: 1 }])
})
