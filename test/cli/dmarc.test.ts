import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { googleReport, gzipped, plain, reportMail, tlsReport } from '../relay/returns/aggregate-reports.ts'
import { answered, begin, postrider } from './postrider.ts'

const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test' })
const { core, env, sql } = service
const { domain, accountId } = await service.makeSender()

/** What is taken here has no signature; that of others is tested by SMTP. */
async function take(raw: Buffer, to = 'dmarc@bounces.test'): Promise<void> {
  const { why } = await core.returns.take({ raw, recipients: [to] })
  if (why !== null) throw new Error(why)
  await sql`update dmarc_reports set authenticated = true, reporter = 'google.com'`
  await sql`update tls_reports set authenticated = true, reporter = 'harbor.example'`
}

const rows = [
  { ip: '192.0.2.9', count: 300, spfDomain: 'bounces.test' },
  { ip: '198.51.100.7', count: 12, dkim: 'fail', spf: 'fail' },
] as const

t.test('reports are shown, listed, and summed up as JSON', async (t) => {
  const before = await postrider(env, 'dmarc', 'list')
  t.match(before, { code: 0, stdout: 'no DMARC reports within 14 days\n' })
  await take(reportMail(gzipped(googleReport({ domain, rows, org: 'g\u202eoogle.com', email: 'a@google.com' }))))
  const { stdout, code } = await postrider(env, 'dmarc', 'show', domain)
  t.equal(code, 0)
  t.match(stdout, `${domain}: 1 report of the last 14 days`)
  t.match(stdout, /^policy: p=none; /m)
  t.match(stdout, /^not yet ready for quarantine: 100 % of ours aligned, but reports cover 1 of 14 days$/m)
  t.match(stdout, /^ours +300 +300 +100 %$/m)
  t.match(stdout, /^others +12 +0 +0 %$/m)
  t.match(stdout, /^google\.com +g oogle\.com +1 +312 +300 +100 %$/m)
  t.match(stdout, new RegExp(`^198\\.51\\.100\\.7 +12 +0 +${domain}$`, 'm'))
  t.match(await answered(env, 'dmarc', 'show', domain, '--days', '30', '--account', String(accountId)), {
    domain,
    days: 30,
    ours: { messages: 300, aligned: 300 },
    advice: { isReady: false },
  })
  const list = await postrider(env, 'dmarc', 'list', '--limit', '1')
  t.match(list.stdout, new RegExp(`^${domain} +${accountId} +1 +300 +100 % +12 +no$`, 'm'))
  t.match(list.stdout, `continue with --after ${domain}`)
  t.strictSame(await answered(env, 'dmarc', 'list', '--after', domain), [])
})

t.test('TLS reports are shown and listed', async (t) => {
  t.match(await postrider(env, 'tls-reports'), { code: 0, stdout: 'no TLS reports within 14 days\n' })
  await take(reportMail(plain(JSON.stringify(tlsReport({ domain })))), 'tlsrpt@bounces.test')
  const { stdout } = await postrider(env, 'tls-reports', domain)
  t.match(stdout, /^sessions: 5326 successful, 303 failed 5\.3 %$/m)
  t.match(stdout, new RegExp(`^certificate-expired +sts +mx1\\.${domain} +1 +103$`, 'm'))
  t.match(await answered(env, 'tls-reports', '--days', '7'), [{ domain, failed: 303 }])
})

t.test('what does not exist is named', async (t) => {
  t.match(await postrider(env, 'dmarc', 'show', 'never.example'), { code: 1, stderr: /"never\.example" not found/ })
  t.match(await postrider(env, 'dmarc', 'show', 'no domain'), { code: 1, stderr: /"no domain" not found/ })
  t.match(await postrider(env, 'tls-reports', 'never.example'), { code: 1, stderr: /no TLS report about/ })
})

t.test('a mail server can hand over reports with returns take', async (t) => {
  const sender = await service.makeSender()
  const raw = reportMail(gzipped(googleReport({ domain: sender.domain })))
  const ran = await begin(env, ['returns', 'take', '--recipient', 'dmarc@bounces.test'], raw.toString('latin1')).ended
  t.match(ran, { code: 0, stdout: 'dmarc-report: the report was recorded\n' })
  const again = await begin(env, ['returns', 'take', '--recipient', 'dmarc@bounces.test'], raw.toString('latin1')).ended
  t.match(again, { code: 0, stdout: 'dmarc-report: no effect: reported before\n' })
})
