import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'

/**
 * The contract's example pairs E14 to E22 and E32 to E37, and its error pairs of these groups, in the order of a story: each as
 * JSON and as an HTML form, each form on an account of its own.
 */
interface Pair {
  readonly name: string
  readonly method: string
  /** `{template}` is the id that E14 was answered with. */
  readonly path: string
  readonly body?: Readonly<Record<string, string | number | boolean>>
  /** The whole answer, or a part of it. */
  readonly data?: unknown
  readonly refusal?: readonly [status: number, code: number, call: string, sentence?: string]
}

const ENVELOPE = { message: 'Success', error_info: null }
const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/
const TEN_MEGABYTES = 'x'.repeat(10_485_760)
const CONTENT = '%3Cp%3EHi%20%5B%25NAME%25%5D%3C%2Fp%3E'

const PAIRS: readonly Pair[] = [
  {
    name: 'E14 template create',
    method: 'POST',
    path: '/template',
    body: { templateName: 'berth_ready', content: CONTENT },
    data: { templateId: Number },
  },
  {
    name: 'X154 template create twice',
    method: 'POST',
    path: '/template',
    body: { templateName: 'berth_ready', content: CONTENT },
    refusal: [400, 154, 'Template', 'Template name is already used'],
  },
  {
    name: 'E15 template edit',
    method: 'PATCH',
    path: '/template/{template}',
    body: { templateName: 'berth_ready', content: '%3Cp%3EHello%3C%2Fp%3E' },
  },
  {
    name: 'E16 template view',
    method: 'GET',
    path: '/template/{template}',
    data: {
      templateId: Number,
      templateName: 'berth_ready',
      content: '<p>Hello</p>',
      createdAt: TIME,
      updatedAt: TIME,
    },
  },
  {
    name: 'X150',
    method: 'GET',
    path: '/template/999999',
    refusal: [400, 150, 'Template'],
  },
  {
    name: 'X151',
    method: 'POST',
    path: '/template',
    body: { templateName: '', content: CONTENT },
    refusal: [400, 151, 'Template'],
  },
  {
    name: 'X152',
    method: 'POST',
    path: '/template',
    body: { templateName: 'blank', content: '%20' },
    refusal: [400, 152, 'Template'],
  },
  {
    name: 'X153',
    method: 'POST',
    path: '/template',
    body: { templateName: 'large', content: TEN_MEGABYTES },
    refusal: [400, 153, 'Template'],
  },
  {
    name: 'E17 domain add',
    method: 'POST',
    path: '/domain',
    body: { domain: '{domain}', envelopeName: 'track' },
    data: {
      domain: '{domain}',
      envelopeName: 'track',
      status: 'pending',
      dns: [{ type: String, host: String, value: String, purpose: String, verified: false }],
    },
  },
  {
    name: 'X131',
    method: 'POST',
    path: '/domain',
    body: { domain: '{domain}', envelopeName: 'track' },
    refusal: [400, 131, 'Domain'],
  },
  { name: 'X130', method: 'POST', path: '/domain', body: { domain: '-bad-' }, refusal: [400, 130, 'Domain'] },
  {
    name: 'E19 domains that are active',
    method: 'GET',
    path: '/domain/getDomains?status=1',
    data: [{ domain: '{sender}', status: 'active' }],
  },
  { name: 'E18 domain delete', method: 'DELETE', path: '/domain/delete', body: { domain: '{domain}' } },
  {
    name: 'E20 suppression add',
    method: 'POST',
    path: '/suppression',
    body: { email: 'x@harbor.example,y@harbor.example', domain: 'spam.example' },
    data: { added: 3 },
  },
  {
    name: 'E21 suppression add',
    method: 'POST',
    path: '/suppression',
    body: { email: 'z@harbor.example' },
    data: { added: 1 },
  },
  {
    name: 'E22 suppression remove',
    method: 'DELETE',
    path: '/suppression',
    body: { email: 'x@harbor.example' },
    data: { removed: 1 },
  },
  {
    name: 'X113b',
    method: 'POST',
    path: '/suppression',
    body: { foo: 1 },
    refusal: [400, 113, 'Suppression'],
  },
  { name: 'X140', method: 'POST', path: '/suppression', body: { email: 'nope' }, refusal: [400, 140, 'Suppression'] },
  {
    name: 'X141',
    method: 'POST',
    path: '/suppression',
    body: { domain: 'no domain' },
    refusal: [400, 141, 'Suppression'],
  },
  {
    name: 'E32 credit',
    method: 'POST',
    path: '/credit',
    body: { startdate: '2026-01-01', enddate: '2026-01-05' },
    data: { startdate: '2026-01-01', enddate: '2026-01-05', used: 0 },
  },
  {
    name: 'X160',
    method: 'POST',
    path: '/credit',
    body: { startdate: '01-01-2026', enddate: '2026-01-05' },
    refusal: [400, 160, 'Credit'],
  },
  {
    name: 'X161',
    method: 'POST',
    path: '/credit',
    body: { startdate: '2026-01-05', enddate: '2026-01-01' },
    refusal: [400, 161, 'Credit'],
  },
  {
    name: 'X161 equal',
    method: 'POST',
    path: '/credit',
    body: { startdate: '2026-01-05', enddate: '2026-01-05' },
    refusal: [400, 161, 'Credit'],
  },
  {
    name: 'E33 subaccount create',
    method: 'POST',
    path: '/subaccounts/createSubaccount',
    body: { username: 'dock2', email: 'd2@ship.example', setpassword: '1', password: 'Anchor77x' },
    data: { username: 'dock2', email: 'd2@ship.example', credit_type: 'unlimited', disabled: false },
  },
  { name: 'E34', method: 'PATCH', path: '/subaccounts', body: { username: 'dock2', disabled: true } },
  {
    name: 'E35',
    method: 'POST',
    path: '/subaccounts/setsubaccountcredit',
    body: { username: 'dock2', action: 'increase', amount: 500 },
  },
  {
    name: 'E36',
    method: 'POST',
    path: '/setrecurringcreditddetails',
    body: {
      username: 'dock2',
      recurring_credit: 100,
      timeperiod: 'monhtly',
      start_date: '2026-02-01',
      end_date: '2026-12-31',
      status: 'active',
    },
  },
  {
    name: 'E37 forget',
    method: 'POST',
    path: '/gdpr/forget',
    body: { email: 'lena@harbor.example' },
    data: { requestId: /^gd_/, status: 'queued', emails: 1 },
  },
]

t.test('the contract', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  for (const kind of ['JSON', 'form'] as const) {
    await t.test(`the pairs of the account's side as ${kind}`, async (t) => {
      const sender = await service.makeSender()
      const names: Record<string, string> = { domain: `${kind.toLowerCase()}.example`, sender: sender.domain }
      const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole)
      for (const { name, method, path, body, data, refusal } of PAIRS) {
        const answer = await ask(url, sender.apiKey, kind, method, fill(`/v2${path}`), body && filled(body, fill))
        if (refusal) {
          const [status, code, called, sentence] = refusal
          t.match(
            [answer.status, answer.json],
            [
              status,
              {
                error_info: { error_code: code, error_message: sentence ?? String },
                message: `Error in ${called} api call`,
              },
            ],
            name,
          )
          t.notOk('data' in (answer.json ?? {}), 'without data')
        } else {
          t.match(
            [answer.status, answer.json],
            [200, { ...ENVELOPE, ...(data ? { data: deepFill(data, fill) } : {}) }],
            name,
          )
        }
        const { templateId } = (answer.json?.data ?? {}) as { templateId?: number }
        if (templateId !== undefined) names.template = String(templateId)
      }
    })
  }
})

function ask(
  url: string,
  apiKey: string,
  kind: 'JSON' | 'form',
  method: string,
  path: string,
  body: Pair['body'],
): Promise<CallAnswer> {
  if (!body) return call(url, { method, path, headers: { api_key: apiKey } })
  if (kind === 'JSON') {
    return call(url, { method, path, headers: { api_key: apiKey, 'content-type': 'application/json' }, body })
  }
  const text = new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const type = 'application/x-www-form-urlencoded'
  return call(url, { method, path, headers: { api_key: apiKey, 'content-type': type }, body: text })
}

function filled(body: NonNullable<Pair['body']>, fill: (text: string) => string): NonNullable<Pair['body']> {
  const entries = Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? fill(value) : value])
  return Object.fromEntries(entries)
}

function deepFill(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item) => deepFill(item, fill))
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, deepFill(item, fill)]))
}
