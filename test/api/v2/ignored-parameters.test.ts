import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { asForm, call, FORM } from '../call.ts'
import { accountCalls } from './account-calls.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const { ask } = accountCalls(base, sender.apiKey)
const HEADER = 'ignored-parameters'

/** Reads that the mirrored API does not have, with a parameter that they do not know. */
const REFUSED: readonly (readonly [path: string, wrong: string, said: string])[] = [
  ['/messages?q=hello', 'q', 'which has '],
  ['/messages?next=abc', 'next', 'which has '],
  ['/messages?Limit=5', 'Limit', 'did you mean limit?'],
  ['/messages/019b8d6b3c80700080000000000000b2?from_recipients=1', 'from_recipients', 'did you mean from_recipient?'],
  ['/events/feed?afte=5', 'afte', 'did you mean after?'],
  ['/audit?x=1', 'x', 'which has '],
  ['/key?x=1', 'x', 'which has none'],
  ['/delivery?x=1', 'x', 'is unknown to this call'],
  ['/domain/dmarc?domain=ship.example&day=5', 'day', 'did you mean days?'],
]

for (const [path, wrong, said] of REFUSED) {
  t.test(`GET ${path}: the parameter is refused by name`, async (t) => {
    const answer = await ask('GET', path)
    t.match(answer, { status: 400, json: { error_info: { error_code: 113 } } })
    t.match(answer.text, `[${wrong}]`)
    t.match(answer.text, said)
  })
}

t.test('what the mirrored API ignores is ignored, and named in a header', async (t) => {
  for (const path of ['/logs?startdate=2026-11-29&enddate=2026-11-30&subjectHello=1', '/suppression?subjectHello=1']) {
    const answer = await ask('GET', path)
    t.equal(answer.status, 200, answer.text)
    t.equal(answer.headers[HEADER], '"subjectHello"', path)
  }
  t.equal((await ask('GET', '/suppression')).headers[HEADER], undefined)
})

const body = v2Body(sender, {
  shedule: '2026-12-01',
  from: { fromEmail: `desk@${sender.domain}`, name: 'Desk' },
  settings: { opentracking: 1 },
  personalizations: [
    null,
    { recipient: 'lena@harbor.example', cc: 'a@b.example', attributes: { any: 'name' }, 'x-headers': { 'X-A': '1' } },
  ],
})
const NAMES = ['shedule', 'from.name', 'settings.opentracking', 'personalizations[1].cc']
const named = (header: unknown): string[] => String(header).split(', ').sort()

t.test('sendEmail sends without the fields that it does not know, and names them in a header', async (t) => {
  const sent = await ask('POST', '/sendEmail?q=1', body)
  t.equal(sent.status, 200, sent.text)
  t.strictSame(named(sent.headers[HEADER]), [...NAMES, 'q'].map((name) => `"${name}"`).sort())
  t.equal((await ask('POST', '/sendEmail', v2Body(sender))).headers[HEADER], undefined)
})

t.test('so it does for a form, and for a large body', async (t) => {
  const form = asForm({ ...v2Body(sender), shedule: '1' })
  const answer = await call(base, { headers: { api_key: sender.apiKey, ...FORM }, body: form })
  t.equal(answer.headers[HEADER], '"shedule"', answer.text)
  const large = await ask('POST', '/sendEmail', { ...v2Body(sender), shedule: 1, content: 'x'.repeat(300_000) })
  t.equal(large.headers[HEADER], '"shedule"', large.text)
})

t.test('the header is bounded and in ASCII, whatever the names are', async (t) => {
  const odd = { 'a"b\\c': 1, 'grüße\r\nx: y': 1, ['x'.repeat(5000)]: 1 }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 1]))
  const one = await ask('POST', '/sendEmail', v2Body(sender, odd))
  t.equal(one.headers[HEADER], `"a\\"b\\\\c", "gr%C3%BC%C3%9Fe%0D%0Ax: y", "${'x'.repeat(100)}"`, one.text)
  const long = await ask('POST', '/sendEmail', v2Body(sender, { ['船'.repeat(100)]: 1 }))
  t.equal(long.headers[HEADER], `"${'%E8%88%B9'.repeat(12).slice(0, 100)}"`)
  const header = String((await ask('POST', '/sendEmail', v2Body(sender, many))).headers[HEADER])
  t.match(header, /^"k0", .*, "k19", "\.\.\."$/)
})
