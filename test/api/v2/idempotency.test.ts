import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { asForm, type CallAnswer, call, FORM, JSON_TYPE, messageIdOf, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()

const CONFLICT = [409, 122, 'Idempotency-Key was already used with a different request'] as const

const post = ({ apiKey }: Sender, key: string, body: string | Record<string, unknown>, headers = JSON_TYPE) =>
  call(base, { headers: { api_key: apiKey, 'idempotency-key': key, ...headers }, body })

async function stored({ accountId }: Sender): Promise<number> {
  const [row] = await service.sql`select count(*)::int as count from messages where account_id = ${accountId}`
  return row?.count
}

function repeats(answers: readonly CallAnswer[]): number {
  return answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length
}

t.test('the same call under the same key gets the first answer again, marked as a repeat', async (t) => {
  const sender = await service.makeSender()
  const first = await post(sender, 'order 9001', v2Body(sender))
  const second = await post(sender, 'order 9001', v2Body(sender))
  t.equal(first.status, 200)
  t.equal(first.headers['idempotent-replayed'], undefined)
  t.equal(second.status, 200)
  t.equal(second.text, first.text)
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.equal(await stored(sender), 1)
  const { deliveries } = (await service.core.messages.show(messageIdOf(first))) ?? {}
  t.equal(deliveries?.length, 1)
})

t.test('calls without a key are messages of their own, however equal', async (t) => {
  const sender = await service.makeSender()
  for (let count = 0; count < 3; count++) await sendV2(base, sender.apiKey, v2Body(sender))
  t.equal(await stored(sender), 3)
})

t.test('keys differ by case, and by everything inside them; the header’s name does not', async (t) => {
  const sender = await service.makeSender()
  for (const key of ['k', 'K', 'k k', 'k  k', '"k"', 'k;1', 'k,k', '%6b']) {
    t.equal(repeats([await post(sender, key, v2Body(sender))]), 0, key)
  }
  t.equal(await stored(sender), 8)
  const headers = { api_key: sender.apiKey, 'IDEMPOTENCY-KEY': ' k ' }
  t.equal(repeats([await call(base, { headers, body: v2Body(sender) })]), 1)
})

/** What makes the second call another one, on top of the first's body. */
const OTHERS: readonly (readonly [what: string, extra: Record<string, unknown>])[] = [
  ['another subject', { subject: 'Berth 5' }],
  ['another content', { content: '<p>Your berth is ready!</p>' }],
  ['another recipient', { personalizations: [{ recipient: 'lars@harbor.example' }] }],
  ['a copy more', { personalizations: [{ recipient: 'lena@harbor.example', recipient_cc: 'a@harbor.example' }] }],
  ['another value', { personalizations: [{ recipient: 'lena@harbor.example', attributes: { A: 'b' } }] }],
  ['a tag', { tags: 'berth' }],
  ['a schedule', { schedule: '2020-01-01' }],
  ['an attachment', { attachments: [{ fileName: 'a', fileContent: 'YQ==' }] }],
  ['a parameter nobody knows', { unknown: 1 }],
]
t.test('another call under a used key is refused with 409 and stores nothing', async (t) => {
  const sender = await service.makeSender()
  const first = await post(sender, 'k', v2Body(sender))
  for (const [what, extra] of OTHERS) {
    refused(t, await post(sender, 'k', v2Body(sender, extra)), CONFLICT, what)
  }
  t.equal((await post(sender, 'k', v2Body(sender))).text, first.text, 'the first one is still known')
  t.equal(await stored(sender), 1)
})

t.test('a file of a form counts as part of the call: its name, and each of its octets', async (t) => {
  const sender = await service.makeSender()
  const send = async (fileName: string, content: string) => {
    const form = new FormData()
    form.set('data', JSON.stringify(v2Body(sender)))
    form.set('file', new Blob([content]), fileName)
    const headers = { api_key: sender.apiKey, 'idempotency-key': 'file' }
    const response = await fetch(`${base}/v2/sendEmail`, { method: 'POST', headers, body: form })
    return { status: response.status, text: await response.text() }
  }
  const first = await send('a.txt', 'the map')
  t.equal(first.status, 200)
  t.equal((await send('a.txt', 'the map')).text, first.text, 'the boundary does not count')
  t.equal((await send('b.txt', 'the map')).status, 409)
  t.equal((await send('a.txt', 'the mop')).status, 409)
  t.equal(await stored(sender), 1)
})

t.test('white space between JSON’s marks does not make another call', async (t) => {
  const sender = await service.makeSender()
  const first = await post(sender, 'k', v2Body(sender))
  t.equal((await post(sender, 'k', JSON.stringify(v2Body(sender), null, 2))).text, first.text)
})

t.test('a hundred equal calls at once are one message, and all get its id', async (t) => {
  const sender = await service.makeSender()
  const calls = Array.from({ length: 100 }, () => post(sender, 'crowd', v2Body(sender)))
  const answers = await Promise.all(calls)
  t.equal(new Set(answers.map(messageIdOf)).size, 1)
  t.equal(repeats(answers), 99)
  t.equal(await stored(sender), 1)
})

t.test('of a hundred different calls at once under one key one is stored, and the others are refused', async (t) => {
  const sender = await service.makeSender()
  const calls = Array.from({ length: 100 }, (_, at) => post(sender, 'race', v2Body(sender, { subject: `Berth ${at}` })))
  const answers = await Promise.all(calls)
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(99).fill(409)])
  t.equal(await stored(sender), 1)
})

t.test('a hundred keys at once, each called twice, are a hundred messages', async (t) => {
  const sender = await service.makeSender()
  const calls = Array.from({ length: 200 }, (_, at) => post(sender, `key ${at % 100}`, v2Body(sender)))
  const answers = await Promise.all(calls)
  t.equal(new Set(answers.map(messageIdOf)).size, 100)
  t.equal(repeats(answers), 100)
  t.equal(await stored(sender), 100)
})

t.test('two accounts may use the same key, and neither learns of the other', async (t) => {
  const [one, other] = [await service.makeSender(), await service.makeSender()]
  const answers = [await post(one, 'shared', v2Body(one)), await post(other, 'shared', v2Body(other))]
  t.equal(repeats(answers), 0)
  t.equal(new Set(answers.map(messageIdOf)).size, 2)
  t.strictSame([await stored(one), await stored(other)], [1, 1])
})

t.test('two API keys of one account share their idempotency keys', async (t) => {
  const sender = await service.makeSender()
  const { secret } = await service.core.auth.createKey({ accountId: sender.accountId })
  const first = await post(sender, 'k', v2Body(sender))
  t.equal((await post({ ...sender, apiKey: secret }, 'k', v2Body(sender))).text, first.text)
  t.equal(await stored(sender), 1)
})

t.test('a repeated call gets its first answer also if what it names was deleted meanwhile', async (t) => {
  const sender = await service.makeSender()
  const template = { accountId: sender.accountId, name: 'berth', content: '<p>Hello</p>' }
  const { id } = await service.core.templates.create(template)
  const body = v2Body(sender, { templateId: id })
  const first = await post(sender, 'order 1', body)
  t.equal(first.status, 200)
  await service.core.templates.remove({ accountId: sender.accountId, id })
  const refusal = await until('the template to be gone', async () => {
    const answer = await post(sender, 'order 2', body)
    return answer.status === 200 ? undefined : answer
  })
  refused(t, refusal, [400, 118])
  const again = await post(sender, 'order 1', body)
  t.equal(again.text, first.text)
  t.equal(again.headers['idempotent-replayed'], 'true')
  refused(t, await post(sender, 'order 1', v2Body(sender, { templateId: id, subject: 'another' })), [400, 118])
})

t.test('a refused call does not use its key up', async (t) => {
  const sender = await service.makeSender()
  const refusals: readonly (readonly [body: string | Record<string, unknown>, code: number])[] = [
    ['', 110],
    ['{', 111],
    [v2Body(sender, { from: { fromEmail: 'desk@unknown.example' } }), 112],
    [v2Body(sender, { subject: '' }), 116],
    [v2Body(sender, { templateId: 999999 }), 118],
    [v2Body(sender, { schedule: 'tomorrow' }), 113],
  ]
  for (const [body, code] of refusals) refused(t, await post(sender, 'again', body), [400, code])
  t.equal(repeats([await post(sender, 'again', v2Body(sender))]), 0)
  t.equal(await stored(sender), 1)
})

const MALFORMED: readonly (readonly [what: string, key: string])[] = [
  ['empty', ''],
  ['blank', '   '],
  ['longer than 256 characters', 'k'.repeat(257)],
  ['not ASCII', 'sch\u00fcssel'],
  ['with a tab inside', 'a\tb'],
]
for (const [what, key] of MALFORMED) {
  t.test(`a key that is ${what} is refused with 113 and named, and nothing is stored`, async (t) => {
    const sender = await service.makeSender()
    refused(t, await post(sender, key, v2Body(sender)), [400, 113, /^Parameter \[Idempotency-Key\] is invalid: /])
    t.equal(await stored(sender), 0)
  })
}

t.test('a key of 256 characters is taken, and the whole of it counts', async (t) => {
  const sender = await service.makeSender()
  const key = 'k'.repeat(255)
  t.equal(repeats([await post(sender, `${key}1`, v2Body(sender)), await post(sender, `${key}2`, v2Body(sender))]), 0)
  t.equal(repeats([await post(sender, `${key}1`, v2Body(sender))]), 1)
})

t.test('a form is another call than the JSON of the same meaning only where they say different things', async (t) => {
  const sender = await service.makeSender()
  const body = v2Body(sender)
  const first = await post(sender, 'k', body)
  t.equal((await post(sender, 'k', `data=${encodeURIComponent(JSON.stringify(body))}`, FORM)).text, first.text)
  refused(t, await post(sender, 'k', asForm({ ...body, subject: 'Berth 5' }), FORM), CONFLICT)
})

t.test(
  'a repeat returns the first id even when the message was sent long ago, until 24 hours have passed',
  async (t) => {
    const own = await makeService(t)
    const url = await own.openApi()
    const sender = await own.makeSender()
    const send = async () => {
      const { body } = await sendV2(url, sender.apiKey, v2Body(sender), { 'idempotency-key': 'day' })
      return body.data?.message_id
    }
    const first = await send()
    t.ok(first)
    await moveClock(own.sql, '23 hours 59 minutes')
    t.equal(await send(), first)
    await moveClock(own.sql, '24 hours 1 minute')
    const second = await send()
    t.ok(second)
    t.not(second, first)
    t.equal(await send(), second, 'the new one is kept in its turn')

    await moveClock(own.sql, '49 hours')
    const crowd = await Promise.all(Array.from({ length: 50 }, send))
    t.equal(new Set(crowd).size, 1, 'a crowd that comes after its time is one message again')
    t.notOk([first, second].includes(crowd[0]))
  },
)
