import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { googleReport, gzipped, reportMail } from '../../relay/returns/aggregate-reports.ts'
import { type CallAnswer, call } from '../call.ts'

const service = await makeService(t, { RETURN_PATH_HOST: 'bounces.test' })
const { core, sql } = service
const base = await service.openApi()
const sender = await service.makeSender()
const { domain } = sender

const codeOf = ({ json }: CallAnswer): unknown => (json?.error_info as { error_code?: number } | undefined)?.error_code
const ask = (query: string, api_key = sender.apiKey) =>
  call(base, { method: 'GET', path: `/v2/domain/dmarc?${query}`, headers: { api_key } })

/** What is taken here has no signature; that of others is tested by SMTP. */
async function report(rows: Parameters<typeof googleReport>[0]['rows'], daysAgo = 1): Promise<void> {
  const raw = reportMail(gzipped(googleReport({ domain, rows: rows ?? [], daysAgo })))
  const { why } = await core.returns.take({ raw, recipients: ['dmarc@bounces.test'] })
  if (why !== null) throw new Error(why)
  await sql`update dmarc_reports set authenticated = true, reporter = 'google.com', ours = messages, ours_aligned = aligned`
}

t.test('without reports, the counts are 0 and the advice says why', async (t) => {
  const { json } = await ask(`domain=${domain}`)
  t.match(json?.data, {
    domain,
    days: 14,
    reports: 0,
    unauthenticatedReports: 0,
    policy: null,
    ours: { messages: 0, aligned: 0 },
    others: { messages: 0, aligned: 0 },
    reporters: [],
    otherSources: [],
    advice: { ready: false, text: 'not yet ready for quarantine: no authenticated report within 14 days' },
  })
})

t.test('the reports of the last days are summed up, by GET and POST', async (t) => {
  await report([{ count: 100 }])
  await report([{ count: 5, dkim: 'fail', spf: 'fail' }], 20)
  t.match((await ask(`domain=${domain}`)).json?.data, { reports: 1, ours: { messages: 100, aligned: 100 } })
  const wide = await ask(`domain=${domain.toUpperCase()}&days=30`)
  t.match(wide.json?.data, { days: 30, reports: 2, ours: { messages: 105, aligned: 100 }, policy: { p: 'none' } })
  const posted = await call(base, {
    path: '/v2.1/domain/dmarc',
    headers: { api_key: sender.apiKey },
    body: { domain, days: 30 },
  })
  t.strictSame(posted.json?.data, wide.json?.data)
})

t.test('a domain of another account, and one that does not exist, are unknown', async (t) => {
  const other = await service.makeSender()
  for (const answer of [await ask(`domain=${domain}`, other.apiKey), await ask('domain=never.example')]) {
    t.equal(codeOf(answer), 132)
  }
  t.equal(codeOf(await ask('domain=no_domain')), 130)
})

t.test('days beyond the limits, and a missing domain, are named', async (t) => {
  for (const days of ['0', '91', 'week', '-1']) {
    const answer = await ask(`domain=${domain}&days=${days}`)
    t.match(answer.text, /days/, days)
    t.not(answer.json?.message, 'Success')
  }
  t.match((await ask('')).text, /domain/)
})

t.test('a key without the scope domains may not see it', async (t) => {
  const { secret } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['send'] })
  t.equal((await ask(`domain=${domain}`, secret)).status, 403)
})

t.test('the record that a domain is advised to publish names the address for reports', async (t) => {
  const { json } = await call(base, {
    method: 'GET',
    path: `/v2/domains?domain=${domain}`,
    headers: { api_key: sender.apiKey },
  })
  const [listed] = (json?.data ?? []) as { dns: { purpose: string; value: string }[] }[]
  const dmarc = listed?.dns.find(({ purpose }) => purpose === 'dmarc')
  t.equal(dmarc?.value, 'v=DMARC1; p=none; rua=mailto:dmarc@bounces.test')
})
