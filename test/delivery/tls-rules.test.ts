import t from 'tap'
import { call, JSON_TYPE } from '../api/call.ts'
import { answered, postrider } from '../cli/postrider.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { startSink } from '../helpers/sink.ts'
import { mail } from '../relay/session.ts'
import { selfSigned } from './authority.ts'
import { startInternet, startOutbox } from './outbox.ts'
import { untilRulesRead } from './rules-read.ts'

const internet = await startInternet(t)
const { service, sender } = internet
const { env } = service
const base = `http://127.0.0.1:${service.config.apiPort}`
/** A host without TLS, and one with a certificate that nobody can verify. */
const plain = await internet.host(t)
const unverifiable = await internet.host(t, { tls: await selfSigned('mx.example') })

const run = (...args: string[]) => postrider(env, ...args)
/** The policy of the first attempt at a message to this domain, and its outcome. */
async function attemptAt(domain: string, settings?: Record<string, unknown>) {
  const id = await internet.send(`a@${domain}`, settings ? { settings } : {})
  const [attempt] = (await internet.attempted(id)).attempts
  return [attempt?.tlsPolicy, attempt?.outcome, attempt?.enhanced]
}
const DELIVERED = [null, 'delivered', '2.0.0']
const NOT_OFFERED = ['required', 'deferred', '4.7.4']
const NOT_VERIFIED = ['verified', 'deferred', '4.7.5']

t.test('a rule of the operator for a domain is obeyed by running workers until it is removed', async (t) => {
  const domain = internet.domain([plain])
  t.strictSame(await attemptAt(domain), DELIVERED)
  const set = await run('tls', 'set', domain.toUpperCase(), 'required')
  t.match(set, { code: 0, stdout: `mail to ${domain} demands TLS: required\n` })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), NOT_OFFERED)
  t.strictSame(await attemptAt(internet.domain([plain])), DELIVERED, 'other domains with this host are not concerned')
  t.match(await run('tls', 'set', domain, 'none'), { code: 0, stdout: `no rule for mail to ${domain}\n` })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), DELIVERED)
})

t.test('a rule for an account concerns its own mail only, and the strongest demand counts', async (t) => {
  const domain = internet.domain([unverifiable])
  const other = await service.makeSender()
  t.match(await run('tls', 'set', domain, 'required', '--account', String(other.accountId)), { code: 0 })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), DELIVERED)
  t.match(await run('tls', 'set', domain, 'required', '--account', String(sender.accountId)), { code: 0 })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), ['required', 'delivered', '2.0.0'])
  t.strictSame(await attemptAt(domain, { tls: 'verified' }), NOT_VERIFIED)
  t.match(await run('tls', 'set', 'all', 'verified', '--account', String(sender.accountId)), { code: 0 })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain, { tls: 'required' }), NOT_VERIFIED)
  const { rules } = await answered<{ rules: object[] }>(env, 'tls', 'list')
  t.strictSame(
    rules,
    [
      { accountId: sender.accountId, domain, level: 'required' },
      { accountId: other.accountId, domain, level: 'required' },
      { accountId: sender.accountId, domain: null, level: 'verified' },
    ].sort((a, b) => (a.domain === b.domain ? a.accountId - b.accountId : 0)),
  )
  t.match((await run('tls', 'list')).stdout, new RegExp(`^all +${sender.accountId} +verified$`, 'm'))
  for (const one of [domain, 'all']) await run('tls', 'set', one, 'none', '--account', String(sender.accountId))
  const log = await service.core.audit.list(sender.accountId, { after: 0, limit: 100 })
  t.match(log.slice(-1), [
    { action: 'tls.set', object: 'tls', before: { level: 'verified' }, after: { level: 'none' }, keyId: null },
  ])
  await untilRulesRead(t, internet)
})

t.test('the account-wide setting of v3 is obeyed, and shown with both of its flags', async (t) => {
  const domain = internet.domain([unverifiable])
  const authorization = `Bearer ${sender.apiKey}`
  const settings = { path: '/v3/user/settings/enforced_tls', headers: { ...JSON_TYPE, authorization } }
  const patch = (body: object) => call(base, { ...settings, method: 'PATCH', body: JSON.stringify(body) })
  t.match(await patch({ require_valid_cert: true }), { status: 200, json: { require_tls: true } })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), NOT_VERIFIED)
  t.match(await patch({ require_valid_cert: false }), { json: { require_tls: true, require_valid_cert: false } })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), ['required', 'delivered', '2.0.0'])
  t.match(await patch({ require_tls: false }), { json: { require_tls: false } })
  await untilRulesRead(t, internet)
  t.strictSame(await attemptAt(domain), DELIVERED)
})

async function v3(headers: Record<string, string>, own?: Record<string, string>) {
  const body = JSON.stringify({
    from: { email: `desk@${sender.domain}` },
    subject: 'Berth 4',
    personalizations: [{ to: [{ email: `lena@${internet.domain([plain])}` }], ...(own ? { headers: own } : {}) }],
    content: [{ type: 'text/plain', value: 'Ready.' }],
    headers,
  })
  const authorization = `Bearer ${sender.apiKey}`
  return call(base, { path: '/v3/mail/send', body, headers: { ...JSON_TYPE, authorization } })
}

t.test('a message demands TLS by v2, v3 and SMTP, and its recipients do not see that', async (t) => {
  const before = plain.messages.length
  t.strictSame(await attemptAt(internet.domain([plain]), { tls: 'required' }), NOT_OFFERED)
  t.match(await v3({ 'X-PR-TLS': 'Required' }), { status: 202 })
  const session = await internet.openRelay(t)
  const submit = (fields: string, domain: string) =>
    session.submit(`desk@${sender.domain}`, `lena@${domain}`, mail(sender, fields))
  const attempt = (await internet.attempted(await submit('X-PR-TLS: verified\r\n', internet.domain([plain]))))
    .attempts[0]
  t.match(attempt, { tlsPolicy: 'verified', outcome: 'deferred', enhanced: '4.7.4', code: null })
  await internet.inState(await submit('X-PR-TLS: required\r\n', internet.domain([unverifiable])), 'delivered')
  t.notMatch(String(unverifiable.messages.at(-1)?.data), /X-PR-TLS/i)
  t.equal(plain.messages.length, before, 'nothing was sent in plain text')
})

t.test('a wrong level is named by the entry point that was used, and changes nothing', async (t) => {
  const personalizations = [{ recipient: 'lena@harbor.example' }]
  for (const tls of ['none', 'VERIFIED ', 'sts', 'opportunistic', '1']) {
    const answer = await sendV2(base, sender.apiKey, v2Body(sender, { settings: { tls }, personalizations }))
    t.match(answer, { status: 400 }, tls)
    t.match(JSON.stringify(answer.body), /settings\.tls\] is invalid: must be required, verified or dane/)
  }
  t.match((await v3({ 'X-PR-TLS': 'always' })).json, { errors: [{ field: 'headers.X-PR-TLS' }] })
  const own = await v3({}, { 'X-PR-TLS': 'required' })
  t.match(own.json, { errors: [{ field: 'personalizations.0.headers.X-PR-TLS' }] })
  const session = await internet.openRelay(t)
  const message = mail(sender, 'X-PR-TLS: always\r\n')
  await t.rejects(
    session.submit(`desk@${sender.domain}`, 'lena@harbor.example', message),
    /X-PR-TLS\] is invalid: must be required, verified or dane/,
  )
})

t.test('an attempt notes whose demand is the strongest, of equal ones the most specific', async (t) => {
  const own = String(sender.accountId)
  const domain = internet.domain([unverifiable])
  const originAt = async (to: string, settings?: Record<string, unknown>) => {
    const id = await internet.send(`a@${to}`, settings ? { settings } : {})
    return (await internet.attempted(id)).attempts[0]?.tlsOrigin
  }
  t.equal(await originAt(domain), null)
  t.equal(await originAt(domain, { tls: 'required' }), 'message')
  const rules = [['all'], [domain], ['all', '--account', own], [domain, '--account', own]]
  const seen: unknown[] = []
  for (const [of = '', ...rest] of rules) {
    await run('tls', 'set', of, 'required', ...rest)
    await untilRulesRead(t, internet)
    seen.push(await originAt(domain))
  }
  t.strictSame(seen, ['operator', 'domain', 'account', 'account-domain'])
  t.equal(await originAt(domain, { tls: 'required' }), 'message')
  await run('tls', 'set', 'all', 'verified')
  await untilRulesRead(t, internet)
  t.equal(await originAt(domain, { tls: 'required' }), 'operator')
  for (const [of = '', ...rest] of rules) await run('tls', 'set', of, 'none', ...rest)
  await untilRulesRead(t, internet)
})

t.test('message show and message why say what TLS an attempt had, and who demanded it', async (t) => {
  const id = await internet.send(`a@${internet.domain([unverifiable])}`, { settings: { tls: 'required' } })
  await internet.inState(id, 'delivered')
  t.match(
    (await run('message', 'show', id)).stdout,
    /attempt 1: delivered .*TLSv1\.3 \(required, demanded by the message\) 250/,
  )
  const refused = await internet.send(`a@${internet.domain([plain])}`, { settings: { tls: 'verified' } })
  await internet.attempted(refused)
  t.match(
    (await run('message', 'show', refused)).stdout,
    /attempt 1: deferred .*no TLS \(verified, demanded by the message\) 4\.7\.4 TLS is required/,
  )
  t.match(
    (await run('message', 'why', refused)).stdout,
    /The last attempt failed \(4\.7\.4 TLS is required, .*\)\. TLS with a valid certificate is demanded by the message\. The next/,
  )
})

t.test('tls set names what is wrong with a call, and changes nothing', async (t) => {
  const before = (await run('tls', 'list')).stdout
  for (const [args, status, stderr] of [
    [[], 2, /missing argument: domain\nusage: postrider tls set/],
    [['harbor.example'], 2, /missing argument: required, verified, dane or none/],
    [['harbor.example', 'always'], 2, /the level must be required, verified, dane or none \(got "always"\)/],
    [['a..b', 'required'], 2, /"a\.\.b" is not a valid domain name/],
    [['harbor.example', 'required', '--account', '999999'], 1, /account 999999 not found/],
    [['harbor.example', 'required', '--account', 'x'], 2, /--account must be a number/],
    [['harbor.example', 'required', 'twice'], 2, /unexpected argument "twice"/],
  ] as const) {
    const answer = await run('tls', 'set', ...args)
    t.equal(answer.code, status, args.join(' '))
    t.match(answer.stderr, stderr)
  }
  t.equal((await run('tls', 'list')).stdout, before)
})

t.test('with a relay host, the demand applies to the connection with it', async (t) => {
  const relay = await startSink(t, { host: '127.8.0.1', tls: await selfSigned('127.8.0.1') })
  const outbox = await startOutbox(t, { DELIVERY: `smtp://127.8.0.1:${relay.port}` })
  const attemptsAt = async (settings: Record<string, unknown>) =>
    (await outbox.attempted(await outbox.send('lena@harbor.example', { settings }))).attempts
  t.match(await attemptsAt({}), [{ outcome: 'delivered', tls: 'TLSv1.3', tlsPolicy: null, tlsVerified: false }])
  t.match(await attemptsAt({ tls: 'required' }), [{ outcome: 'delivered', tls: 'TLSv1.3', tlsPolicy: 'required' }])
  t.match(await attemptsAt({ tls: 'verified' }), [{ outcome: 'deferred', enhanced: '4.7.5', tlsPolicy: 'verified' }])
  t.equal(relay.messages.length, 2)
})
