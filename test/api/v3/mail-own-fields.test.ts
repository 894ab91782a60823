import t from 'tap'
import { headerLines } from '../arrivals.ts'
import { ask } from './ask.ts'

import { makeMailArrivals } from './mail-arrivals.ts'

const { service, base, sender, send, copies } = await makeMailArrivals(t)
const stranger = await service.makeSender()
const HEADER = 'ignored-parameters'
const lines = async (headers: Record<string, string>, own: Record<string, string> = {}) => {
  const answer = await send({ headers, personalizations: [{ to: [{ email: 'lena@harbor.example' }], headers: own }] })
  t.equal(answer.status, 202, answer.text)
  const [copy] = await copies(answer)
  return { ignored: answer.headers[HEADER], fields: headerLines(copy?.raw ?? '') }
}

t.test('Date and a Sender of the account are those of the message', async (t) => {
  const { ignored, fields } = await lines({
    Date: 'Sun, 29 Nov 2026 10:00:00 +0100',
    Sender: `"Crew, Night" <crew@${sender.domain}>`,
  })
  t.equal(ignored, undefined)
  t.ok(fields.includes('Date: Sun, 29 Nov 2026 09:00:00 +0000'), fields.join('\n'))
  t.equal(fields.filter((line) => line.startsWith('Date: ')).length, 1)
  t.ok(fields.includes(`Sender: "Crew, Night" <crew@${sender.domain}>`), fields.join('\n'))
})

t.test(
  'a Sender of another, and what else the service writes itself, is left out, and named in a header',
  async (t) => {
    for (const foreign of [`desk@${stranger.domain}`, 'president@bank.example', 'The President']) {
      const { ignored, fields } = await lines({ Sender: foreign, 'X-A': '1' })
      t.equal(ignored, '"headers.Sender"', foreign)
      t.notOk(fields.some((line) => line.startsWith('Sender: ')))
      t.ok(fields.includes('X-A: 1'))
    }
    const { ignored, fields } = await lines(
      { 'MIME-Version': '2.0', 'Authentication-Results': 'mx.harbor.example; none', Date: 'soon' },
      { 'resent-from': 'president@bank.example', 'BIMI-Indicator': 'a' },
    )
    t.equal(
      ignored,
      ['headers.MIME-Version', 'headers.Authentication-Results', 'headers.Date']
        .concat(['personalizations.0.headers.resent-from', 'personalizations.0.headers.BIMI-Indicator'])
        .map((name) => `"${name}"`)
        .join(', '),
    )
    t.notOk(fields.some((line) => /^(?:resent|authentication|bimi)-|^MIME-Version: 2/i.test(line)))
  },
)

t.test('the language of the text stays, and a folded value is unfolded', async (t) => {
  const { ignored, fields } = await lines({ 'Content-Language': 'de', 'X-Note': 'one\r\n two\n\tthree' })
  t.equal(ignored, undefined)
  t.ok(fields.includes('Content-Language: de'), fields.join('\n'))
  t.ok(
    fields.some((line) => line === 'X-Note: one two three'),
    fields.join('\n'),
  )
  for (const value of ['one\r\nBcc: x@quay.example', 'one\n', '\rtwo']) {
    const refused = await send({ headers: { 'X-Note': value } })
    t.match(refused, { status: 400, json: { errors: [{ field: 'headers.X-Note' }] } }, JSON.stringify(value))
  }
})

t.test("Symfony's mailer with a date, a sender and a return path sends", async (t) => {
  // As its bridge writes them: from is the sender, else the return path, else From; all other fields are headers.
  const own = (name: string) => `${name}@${sender.domain}`
  const symfony = (from: string, headers: Record<string, string>) => ({
    personalizations: [{ to: [{ email: 'lena@harbor.example' }], subject: 'Berth' }],
    from: { email: own(from) },
    content: [
      { type: 'text/plain', value: 'Berth 4.' },
      { type: 'text/html', value: '<p>Berth 4.</p>' },
    ],
    headers,
  })
  for (const [mail, field, ignored] of [
    [symfony('desk', { Date: 'Sun, 29 Nov 2026 10:00:00 +0100' }), 'Date: Sun, 29 Nov 2026 09:00:00 +0000', undefined],
    [symfony('crew', { Sender: own('crew') }), `Sender: ${own('crew')}`, undefined],
    [symfony('returns', { 'Return-Path': `<${own('returns')}>` }), `From: ${own('returns')}`, '"headers.Return-Path"'],
    [symfony('desk', { 'X-Priority': '1 (Highest)' }), 'X-Priority: 1 (Highest)', undefined],
  ] as const) {
    const answer = await send(mail)
    t.match(answer, { status: 202 }, answer.text)
    t.equal(answer.headers[HEADER], ignored)
    const [copy] = await copies(answer)
    t.ok(headerLines(copy?.raw ?? '').includes(field), field)
  }
})

t.test('a Sender of one among several personalizations has no effect', async (t) => {
  const to = (name: string, headers = {}) => ({ to: [{ email: `${name}@harbor.example` }], headers })
  const answer = await send({ personalizations: [to('a', { Sender: `crew@${sender.domain}` }), to('b')] })
  t.equal(answer.headers[HEADER], '"personalizations.0.headers.Sender"')
  for (const { raw } of await copies(answer, 2)) t.notMatch(raw, /^Sender:/m)
})

t.test('the reserved names of the contract are refused as before', async (t) => {
  const refusal = await send({ headers: { Received: 'x' } })
  t.match(refusal, { status: 400, json: { errors: [{ field: 'headers.Received', message: /reserved keys/ }] } })
})

t.test('keys of a query that v3 does not know are named in a header', async (t) => {
  const stats = await ask(base, {
    method: 'GET',
    path: '/stats?start_date=2026-11-01&days=5&x[]=1',
    key: sender.apiKey,
  })
  t.equal(stats.status, 200, stats.text)
  t.equal(stats.headers[HEADER], '"days", "x[]"')
})
