import t from 'tap'
import { startTlsInternet, TLS_CASES } from './tls-cases.ts'

const internet = await startTlsInternet(t, { SERVICE_DOMAIN: 'post.example' })
await internet.service.core.sources.add({
  name: 'mta-1',
  address: '192.0.2.25',
  helo: 'relay.test',
  bind: '127.0.0.1',
  force: true,
})

t.test('each session counts with the result that RFC 8460 has for it', async (t) => {
  const domains = new Map<string, string>()
  for (const [what, [given]] of Object.entries(TLS_CASES)) {
    const domain = await internet.domainOf(t, given)
    domains.set(domain, what)
    await internet.attempted(
      await internet.send(`a@${domain}`, given.asks === undefined ? {} : { settings: { tls: given.asks } }),
    )
  }
  await internet.worker.stop()
  const rows = await internet.service.sql<{ domain: string; type: string; result: string }[]>`
    select policy_domain as domain, policy_type as type, result from tls_results`
  const found = Object.fromEntries(rows.map(({ domain, type, result }) => [domains.get(domain), [type, result]]))
  t.equal(rows.length, domains.size, 'one session of each')
  for (const [what, [, ...expected]] of Object.entries(TLS_CASES)) t.strictSame(found[what], expected, what)

  const failures = await internet.service.sql<{ domain: string; from: string; to: string; sessions: number }[]>`
    select policy_domain as domain, sending_ip as from, receiving_ip as to, sessions::int as sessions from tls_failures`
  t.equal(failures.length, rows.filter(({ result }) => result !== '').length, 'one failure of each that failed')
  for (const { domain, from, to } of failures) {
    t.equal(from, '192.0.2.25', `${domains.get(domain)}: the address of the source that others see`)
    t.match(to, /^127\.9\./, `${domains.get(domain)}: the address of the host`)
  }
})
