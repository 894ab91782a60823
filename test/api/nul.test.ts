import { OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import t, { type Test } from 'tap'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { asForm, type CallAnswer, call, FORM, JSON_TYPE } from './call.ts'

/** The database takes every text but NUL: as a parameter of any operation, in any place, it is the caller's mistake. */
const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const V2 = { api_key: sender.apiKey }
const V3 = { authorization: `Bearer ${sender.apiKey}`, ...JSON_TYPE }
const NUL = 'a\0b'
const NONE: Schema = { type: 'object' }

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly minimum?: number
}

/** Something the schema allows. */
function sample(schema: Schema): unknown {
  const { type, properties, items, anyOf, enum: named, minimum = 1 } = schema
  if (anyOf) return sample(anyOf.find(({ type }) => type === 'string') ?? (anyOf[0] as Schema))
  if (schema.const !== undefined) return schema.const
  if (named) return named[0]
  if (type === 'object') {
    return Object.fromEntries(Object.entries(properties ?? {}).map(([name, inside]) => [name, sample(inside)]))
  }
  if (type === 'array') return items ? [sample(items)] : []
  if (type === 'integer' || type === 'number') return minimum
  return type === 'boolean' ? true : 'x'
}

/** The value with NUL in one of its texts, for each of them. */
function* withNul(value: unknown, place = ''): Generator<readonly [place: string, value: unknown]> {
  if (typeof value === 'string') yield [place, NUL]
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    for (const [inside, changed] of withNul(member, `${place}.${name}`)) {
      yield [inside, Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }]
    }
  }
}

function pathOf(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name] ?? 1)))
}

function named(answer: CallAnswer): string {
  const { error_message: message } = (answer.json?.error_info ?? {}) as { error_message?: string }
  return message ?? answer.text
}

for (const { name, routes, input, example, takes } of OPERATIONS.filter(
  ({ submits, takesMany }) => !submits && !takesMany,
)) {
  t.test(`v2 ${name} refuses NUL in any text, and names it`, async (t) => {
    for (const [path, method] of routes) {
      const full = { ...(sample(input as Schema) as object), ...example.input }
      for (const [place, value] of withNul(full)) {
        const changed = value as Record<string, unknown>
        const [parameter = ''] = place.slice(1).split('.')
        const to = `/v2${pathOf(path, changed)}`
        const query = new URLSearchParams(asForm({ [parameter]: changed[parameter] }))
        const calls = path.includes(`:${parameter}`)
          ? [{ path: to, headers: V2 }]
          : [
              { path: `${to}?${query}`, headers: V2 },
              ...(method === 'GET' || takes
                ? []
                : [
                    { path: to, headers: { ...V2, ...JSON_TYPE }, body: changed },
                    { path: to, headers: { ...V2, ...FORM }, body: asForm(changed) },
                  ]),
            ]
        for (const one of calls) {
          const answer = await call(base, { method: String(method), ...one })
          t.equal(answer.status, 400, `${method} ${one.path} ${place}: ${answer.text}`)
          if (!one.path.includes('?')) t.match(named(answer), `[${parameter}`, place)
          t.match(named(answer), 'must not contain NUL')
        }
      }
    }
  })
}

t.test('of a batch, a message with NUL in any text is taken or refused by itself, and never a fault', async (t) => {
  for (const [place, message] of withNul(v2Body(sender, { idempotencyKey: 'berth-4' }))) {
    const body = { messages: [message, v2Body(sender)] }
    const path = '/v2/messages/batch'
    const answer = await call(base, { method: 'POST', path, headers: { ...V2, ...JSON_TYPE }, body })
    t.equal(answer.status, 200, `${place}: ${answer.text}`)
    const { data } = answer.json as { data: { results: { message_id: string | null; error_info: object | null }[] } }
    const [own, other] = data.results
    t.type(other?.message_id, 'string', place)
    if (own?.error_info) t.match(own.error_info, { error_code: /^11\d$/ }, place)
  }
})

for (const { name, path, method, params, query, body } of V3_OPERATIONS) {
  t.test(`v3 ${name} refuses NUL in any text`, async (t) => {
    const ids = sample((params ?? NONE) as Schema) as Record<string, unknown>
    const ask = (to: string, sent?: unknown) =>
      call(base, {
        method,
        path: `/v3${to}`,
        headers: V3,
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      })
    for (const [place, changed] of withNul(ids)) {
      t.equal((await ask(pathOf(path, changed as object as Record<string, unknown>))).status, 404, place)
    }
    for (const [place, value] of withNul(sample((query ?? NONE) as Schema))) {
      const asked = new URLSearchParams(asForm(value as Record<string, unknown>))
      refusedForNul(t, await ask(`${pathOf(path, ids)}?${asked}`), place)
    }
    for (const [place, value] of withNul(sample((body ?? NONE) as Schema))) {
      refusedForNul(t, await ask(pathOf(path, ids), value), place)
    }
  })
}

/** Or for what else is wrong with the sample, which has no meaning and names nothing there is. */
function refusedForNul(t: Test, { status, text, json }: CallAnswer, place: string): void {
  t.ok(status === 400 || status === 404, `${place}: ${text}`)
  const { errors = [] } = json as { errors?: { message: string; field: string | null }[] }
  for (const { message, field } of errors) if (message.includes('NUL')) t.equal(`.${field}`, place)
}

t.test('an address with NUL is asked of none of the lists of v3', async (t) => {
  for (const list of ['bounces', 'blocks', 'invalid_emails', 'spam_reports', 'unsubscribes']) {
    const path = `/v3/suppression/${list}?email=a%00b`
    const { status, json } = await call(base, { method: 'GET', path, headers: V3 })
    t.equal(status, 400)
    t.strictSame(json?.errors, [{ message: 'email must not contain NUL.', field: 'email', help: null }])
  }
})

t.test('mail with NUL in any text is taken or refused, and never a fault', async (t) => {
  const everything = v2Body(sender, {
    personalizations: [
      {
        recipient: 'lena@harbor.example',
        recipient_cc: ['bo@harbor.example'],
        recipient_bcc: 'cy@harbor.example',
        'x-apiheader': 'r',
        attributes: { NAME: 'Lena' },
        'x-headers': { 'X-A': 'b' },
        attachments: [{ fileName: 'a.txt', fileContent: 'AAAA' }],
      },
    ],
    subject: 'Hi',
    content: 'c',
    ampcontent: 'a',
    tags: ['t'],
    replyToId: 'a@b.example',
    templateId: 'x',
    schedule: '2026-01-05',
    attachmentId: '1',
    settings: { bcc: 'dy@harbor.example', group: '1' },
  })
  for (const [place, body] of withNul(everything)) {
    for (const [type, octets] of [
      [JSON_TYPE, JSON.stringify(body)],
      [FORM, asForm(body as Record<string, unknown>)],
    ] as const) {
      const { status, text } = await call(base, { headers: { ...V2, ...type }, body: octets })
      t.ok(status < 500, `v2 ${place}: ${text}`)
    }
  }
  const mail = {
    from: { email: `a@${sender.domain}`, name: 'n' },
    subject: 's',
    content: [{ type: 'text/plain', value: 'x' }],
    personalizations: [
      {
        to: [{ email: 'a@b.example', name: 'n' }],
        cc: [{ email: 'c@b.example' }],
        bcc: [{ email: 'd@b.example' }],
        subject: 's',
        headers: { 'X-A': 'b' },
        substitutions: { k: 'v' },
        custom_args: { a: 'b' },
      },
    ],
    reply_to: { email: 'r@b.example', name: 'n' },
    sections: { s: 't' },
    headers: { 'X-B': 'c' },
    categories: ['c'],
    custom_args: { c: 'd' },
    ip_pool_name: 'p',
    attachments: [{ content: 'AAAA', filename: 'a', type: 'text/plain', content_id: 'c' }],
    mail_settings: { footer: { enable: true, text: 't', html: 'h' } },
    tracking_settings: {
      ganalytics: { enable: true, utm_source: 'u' },
      open_tracking: { enable: true, substitution_tag: 't' },
    },
  }
  for (const more of [{}, { template_id: 'x' }, { batch_id: 'x' }]) {
    for (const [place, body] of withNul({ ...mail, ...more })) {
      const { status, text } = await call(base, { path: '/v3/mail/send', headers: V3, body: JSON.stringify(body) })
      t.ok(status < 500, `v3 ${place}: ${text}`)
    }
  }
})
