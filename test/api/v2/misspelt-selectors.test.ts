import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { accountCalls } from './account-calls.ts'

const service = await makeService(t)
const base = await service.openApi()
const { ask, data } = accountCalls(base, (await service.makeSender()).apiKey)

/** Calls that would do more without the parameter that is misspelt, with the name that was meant. */
const MISSPELT: readonly (readonly [
  method: string,
  path: string,
  body: Record<string, unknown>,
  wrong: string,
  meant: string,
])[] = [
  ['POST', '/suppression', { email: 'lena@harbor.example', grop: 1 }, 'grop', 'group'],
  ['POST', '/suppression', { email: 'lena@harbor.example', Group: 1 }, 'Group', 'group'],
  ['DELETE', '/suppression', { email: 'lena@harbor.example', groups: 1 }, 'groups', 'group'],
  ['POST', '/suppression/remove', { email: 'lena@harbor.example', _group: 1 }, '_group', 'group'],
  ['POST', '/webhooks/1/redeliver', { failureid: '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59' }, 'failureid', 'failureId'],
  ['POST', '/webhooks/1/redeliver', { failure_id: '5b0c2f5d-3c6e-4b0f-8f0e-7a1d2c3b4a59' }, 'failure_id', 'failureId'],
]

t.test('a misspelt parameter that would narrow a call is refused by name, with the one that is meant', async (t) => {
  await data('POST', '/suppression', { email: 'grace@harbor.example' })
  for (const [method, path, body, wrong, meant] of MISSPELT) {
    const answer = await ask(method, path, body)
    t.equal(answer.status, 400, `${method} ${path} ${wrong}`)
    const sentence = answer.text
    t.match(sentence, wrong)
    t.match(sentence, `did you mean ${meant}?`)
  }
  t.match(
    await data('GET', '/suppression'),
    [{ email: 'grace@harbor.example', type: 'email' }],
    'nothing was added or removed',
  )
  t.equal((await data<unknown[]>('GET', '/suppression')).length, 1)
})

t.test('a file that is sent as a form is not repeated in the answer', async (t) => {
  const answer = await ask('POST', '/messages/raw', { [`From: desk@ship.example\n${'x'.repeat(1_000_000)}`]: '' })
  t.equal(answer.status, 400)
  t.match(answer.text, 'is unknown to this call, which has raw, from, to')
  t.ok(answer.text.length < 1000, 'its beginning says what was sent')
})

t.test('more unknown parameters than a client has are refused, and not compared one by one', async (t) => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}y${at}`, 1]))
  const call = (count: number) => ask('POST', '/suppression', { email: 'emil@harbor.example', ...many(count) })
  const refused = await call(101)
  t.equal(refused.status, 400)
  t.match(refused.text, '[x0y0] is invalid: is unknown to this call, as 100 others are')
  t.equal((await call(100)).status, 200, 'the mirrored API ignores what it does not know')
})
