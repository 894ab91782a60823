import t from 'tap'
import { startDns } from '../../helpers/dns.ts'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

/** More domains than an account may look up at a time, whose name servers do not answer. */
const SILENT = Array.from({ length: 30 }, (_, at) => `silent${at}.example`)
const MAIL = { mx: [[10, 'mx.harbor.example']] } as const
const dns = await startDns(t, {
  'harbor.example': MAIL,
  'host.example': { a: ['192.0.2.1'] },
  'null.example': { mx: [[0, '']] },
  'gmial.com': MAIL,
  'mail.com': MAIL,
  'broken.example': { fails: 'servfail' },
  ...Object.fromEntries(SILENT.map((name) => [name, { fails: 'silence' as const }])),
})
const service = await makeService(t, { DNS_SERVERS: dns.address })
const base = await service.openApi()
const { accountId, apiKey } = await service.makeSender()

interface Result {
  readonly verdict: string
  readonly score: number
  readonly suggestion?: string
}

async function check(email: string, more = {}): Promise<Result> {
  const client = sendgridClient(base, apiKey)
  const [status, body] = await client({ method: 'POST', url: '/v3/validations/email', body: { email, ...more } })
  t.equal(status, 200)
  return (body as { result: Result }).result
}

t.test('an address is checked for syntax, DNS, suppressions, roles and mistyped providers', async (t) => {
  proves(t, 'operation.validateAddress')
  t.strictSame(await check('Ada@harbor.example', { source: 'signup' }), {
    email: 'Ada@harbor.example',
    verdict: 'Valid',
    score: 1,
    local: 'Ada',
    host: 'harbor.example',
    checks: {
      domain: { has_valid_address_syntax: true, has_mx_or_a_record: true, is_suspected_disposable_address: false },
      local_part: { is_suspected_role_address: false },
      additional: { has_known_bounces: false, has_suspected_bounces: false, is_suppressed: false },
    },
    source: 'signup',
    ip_address: '127.0.0.1',
  })
  const verdicts = {
    'ada@host.example': 'Valid',
    'ada@mail.com': 'Valid',
    'ada@null.example': 'Invalid',
    'ada@nowhere.example': 'Invalid',
    'ada at harbor.example': 'Invalid',
    'ada@broken.example': 'Risky',
    'info@harbor.example': 'Risky',
  }
  for (const [email, verdict] of Object.entries(verdicts)) t.equal((await check(email)).verdict, verdict, email)
  t.match(await check('ada@gmial.com'), { verdict: 'Risky', score: 0.5, suggestion: 'gmail.com' })
  t.match(await check('ada@yahoo.con'), { verdict: 'Invalid', suggestion: 'yahoo.com' })
  const list = { accountId, scope: 'address' } as const
  await service.core.suppressions.add({ ...list, value: 'bounced@harbor.example', reason: 'hardbounce' })
  await service.core.suppressions.add({ ...list, value: 'left@harbor.example', reason: 'unsubscribe' })
  t.match(await check('bounced@harbor.example'), {
    verdict: 'Invalid',
    checks: { additional: { has_known_bounces: true, is_suppressed: true } },
  })
  t.match(await check('left@harbor.example'), {
    verdict: 'Risky',
    checks: { additional: { has_known_bounces: false, is_suppressed: true } },
  })
  const asked = dns.questions.filter((question) => question === 'MX harbor.example').length
  t.equal(asked, 1, 'a domain is looked up once')
  refusedV3(t, await ask(base, { path: '/validations/email', key: apiKey, body: {} }), [
    400,
    'email is required.',
    'email',
  ])
})

t.test('while name servers are silent, an account waits for some of them only, and others for none', async (t) => {
  const other = await service.makeSender()
  const post = async (email: string, key: string) => {
    const path = '/validations/email'
    return (await ask(base, { method: 'POST', path, key, body: { email } })).status
  }
  const waiting = SILENT.map((name) => post(`ada@${name}`, apiKey))
  const refused = await Promise.race(waiting)
  t.equal(refused, 503)
  t.equal(await post('ada@harbor.example', other.apiKey), 200)
  const statuses = await Promise.all(waiting)
  t.equal(statuses.filter((status) => status === 200).length, 20)
  t.equal(statuses.filter((status) => status === 503).length, 10)
})
