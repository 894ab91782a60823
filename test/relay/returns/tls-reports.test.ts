import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import { createSigningKey, reportMail, tlsReport } from './aggregate-reports.ts'

const harbor = createSigningKey('harbor.example', 's=tlsrpt; ')
const quay = createSigningKey('quay.example', 's=other; ')
const dns = await startDns(t, { ...harbor.zones, ...quay.zones })
const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test', DNS_SERVERS: dns.address })
const { core, config, sql } = service
await service.openReturns()

async function mail(
  t: Test,
  report: object,
  { signer = harbor, type = 'application/tlsrpt+gzip', pack = gzipSync } = {},
) {
  const attached = { octets: pack(JSON.stringify(report)), type, name: `${signer.domain}!ship.example!1!2!001.json.gz` }
  const message = await signer.sign(reportMail(attached, { tls: true, from: `tls@${signer.domain}` }))
  const client = await SmtpClient.connect(t, { port: config.returnsPort })
  await client.reply()
  await client.command('EHLO mx.harbor.example')
  return client.submit('', 'tlsrpt@bounces.test', message)
}

const show = (domain: string) => core.aggregateReports.showTls(domain, 14)

t.test('a TLS report is recorded, with its failures by type and host, once', async (t) => {
  const { domain, accountId } = await service.makeSender()
  const report = tlsReport({ domain })
  t.match(await mail(t, report), /^250 2\.0\.0 /)
  t.match(
    await mail(t, report, { type: 'application/tlsrpt+json', pack: (text) => Buffer.from(String(text)) }),
    /^250 /,
  )
  t.match(await show(domain), {
    accountId,
    reports: 1,
    unauthenticated: 0,
    successful: 5326,
    failed: 303,
    failures: [
      {
        resultType: 'starttls-not-supported',
        policyType: 'sts',
        receivingMx: `mx2.${domain}`,
        failed: 200,
        reporters: 1,
      },
      { resultType: 'certificate-expired', policyType: 'sts', receivingMx: `mx1.${domain}`, failed: 103 },
    ],
  })
  t.match(await core.aggregateReports.listTls(14), [{ domain, accountId, reports: 1, failed: 303 }])
})

t.test(
  'reports about the hosts of the service are recorded without an account, and those about others are not',
  async (t) => {
    t.match(await mail(t, tlsReport({ domain: 'bounces.test' })), /^250 /)
    t.match(await show('bounces.test'), { accountId: null, reports: 1, successful: 5326 })
    t.match(await mail(t, tlsReport({ domain: 'foreign.example' })), /^250 /)
    t.equal(await show('foreign.example'), undefined)
    const [newest] = await core.returns.list({ limit: 1 })
    t.match(newest, { kind: 'tls-report', effect: 'none', why: 'other-domain', role: 'tlsrpt' })
  },
)

t.test(
  'a report is recorded whatever its texts are cut to, and one of a year that the database does not have is not read',
  async (t) => {
    const { domain } = await service.makeSender()
    const report = tlsReport({ domain, id: `${'x'.repeat(199)}\u{1f4eb}` })
    for (const failure of report.policies[0]?.['failure-details'] ?? [])
      failure['result-type'] = `${'x'.repeat(59)}\u{1f4eb}`
    t.match(await mail(t, report), /^250 /)
    t.match(await show(domain), { reports: 1, failed: 303, failures: [{ resultType: `${'x'.repeat(59)}\ufffd` }] })
    const early = {
      ...tlsReport({ domain }),
      'date-range': { 'start-datetime': '-200000-01-01T00:00:00Z', 'end-datetime': '2026-01-01T00:00:00Z' },
    }
    t.match(await mail(t, early), /^250 /)
    t.match(await core.returns.list({ limit: 1 }), [{ kind: 'unrecognised', effect: 'none', why: 'report-malformed' }])
  },
)

t.test('a key may be for TLS reports only; a report with another key or sender is kept apart', async (t) => {
  const { domain } = await service.makeSender()
  t.match(await mail(t, tlsReport({ domain, email: 'tls@quay.example' }), { signer: quay }), /^250 /)
  t.match(await mail(t, tlsReport({ domain }), { signer: createSigningKey('harbor.example') }), /^250 /)
  const { failures, ...sums } = (await show(domain)) ?? {}
  t.match(sums, { reports: 0, unauthenticated: 2, successful: 0 })
  t.strictSame([...(failures ?? ['no answer'])], [])
})

t.test('a domain without mail over TLS, and a report without failures, are recorded', async (t) => {
  const { domain } = await service.makeSender()
  const { policies, ...rest } = tlsReport({ domain })
  const [policy] = policies
  const none = {
    policy: { 'policy-type': 'no-policy-found', 'policy-domain': domain.toUpperCase() },
    summary: { 'total-successful-session-count': 3, 'total-failure-session-count': 0 },
  }
  t.match(await mail(t, { ...rest, policies: [policy, none] }), /^250 /)
  t.match(await show(domain), { reports: 1, successful: 5329, failed: 303 })
})

t.test('TLS reports are deleted after REPORT_DAYS, and with their account', async (t) => {
  const [old, gone, recent] = [await service.makeSender(), await service.makeSender(), await service.makeSender()]
  for (const { domain } of [old, gone, recent]) t.match(await mail(t, tlsReport({ domain })), /^250 /)
  await sql`update tls_reports set received_at = received_at - interval '91 days' where policy_domain = ${old.domain}`
  await sql`update accounts set state = 'deleted', deleted_at = now() where id = ${gone.accountId}`
  await core.cleanUp()
  const left = await sql<{ name: string; rows: number }[]>`
    select policy_domain as name, count(w.*)::int as rows from tls_reports left join tls_report_rows w on report = id
     where policy_domain in ${sql([old.domain, gone.domain, recent.domain])} group by 1`
  t.strictSame([...left], [{ name: recent.domain, rows: 3 }])
})
