import t, { type Test } from 'tap'
import { until } from '../../helpers/until.ts'
import { makeArrivals, type ParsedMail } from '../arrivals.ts'
import type { CallAnswer } from '../call.ts'
import { proves } from './conformance/proves.ts'
import { encoded, type FormEntry, multipart, post } from './form-post.ts'

const { service, base, sender, sink } = await makeArrivals(t)
const desk = `desk@${sender.domain}`
let made = 0
const someone = () => `reader${++made}@harbor.example`

/** The mail that a recipient got. */
async function read(to: string): Promise<ParsedMail> {
  const { createRequire } = await import('node:module')
  const { simpleParser } = createRequire(import.meta.url)('mailparser') as {
    simpleParser(source: Buffer): Promise<ParsedMail>
  }
  const found = await until(`mail to ${to}`, () => sink.messages.find((one) => one.to.includes(to)))
  return simpleParser(found.data)
}

function accepted(t: Test, answer: CallAnswer): void {
  t.equal(answer.status, 200, answer.text)
  t.strictSame(answer.json, { message: 'success' })
}

function refused(t: Test, answer: CallAnswer, status: number, errors: readonly (string | RegExp)[]): void {
  t.equal(answer.status, status, answer.text)
  t.match(answer.json, { message: 'error', errors })
  t.equal((answer.json?.errors as unknown[] | undefined)?.length, errors.length, answer.text)
}

t.test('the request of nodemailer-sendgrid-transport, whose key is the last part of the form, is sent', async (t) => {
  proves(t, 'form.recipients', 'form.texts', 'form.files', 'form.key')
  const [joe, mike, cee] = [someone(), someone(), someone()]
  const form = multipart([
    ['to', joe],
    ['to', mike],
    ['from', desk],
    ['x-smtpapi', '{}'],
    ['subject', 'Hi thëre'],
    ['text', 'Awesome'],
    ['html', '<b>Awesome</b>'],
    ['headers', '{}'],
    ['cc', cee],
    ['toname', 'Joe'],
    ['toname', ''],
    ['fromname', 'Roger, Inc.'],
    ['replyto', 'answers@harbor.example'],
    ['date', 'Mon, 05 Jan 2026 10:00:00 +0000'],
    ['files[a b.txt]', 'hallo', 'a b.txt'],
    ['api_user', 'roger'],
    ['api_key', sender.apiKey],
  ])
  accepted(t, await post(base, form))
  const mail = await read(joe)
  t.equal(mail.subject, 'Hi thëre')
  t.strictSame(mail.from?.value, [{ address: desk, name: 'Roger, Inc.' }])
  t.strictSame(mail.to?.value, [
    { address: joe, name: 'Joe' },
    { address: mike, name: '' },
  ])
  t.strictSame(mail.cc?.value, [{ address: cee, name: '' }])
  t.equal(mail.replyTo?.text, 'answers@harbor.example')
  t.equal((mail as unknown as { date: Date }).date.toISOString(), '2026-01-05T10:00:00.000Z')
  t.match(mail.text, /^Awesome/)
  t.match(mail.html, /<b>Awesome<\/b>/)
  t.match(mail.attachments, [{ filename: 'a b.txt', content: Buffer.from('hallo') }])
})

t.test(
  "the request of SendGrid's older Node client, with a Bearer key and X-SMTPAPI, is sent to each of its recipients",
  async (t) => {
    proves(t, 'form.smtpapi', 'form.headers')
    const [one, two] = [someone(), someone()]
    const api = {
      to: [one, two],
      sub: { '-n-': ['1', '2'] },
      unique_args: { k: 'v' },
      category: ['c'],
      filters: { footer: { settings: { enable: 1, 'text/plain': 'foo', 'text/html': '<i>foo</i>' } } },
    }
    const form = multipart([
      ['to', desk],
      ['from', desk],
      ['x-smtpapi', JSON.stringify(api)],
      ['subject', 'For -n-'],
      ['text', 'T -n-'],
      ['html', '<img src="cid:pic">'],
      ['headers', '{"X-Shop":"b"}'],
      ['content[i.png]', 'pic'],
      ['files[i.png]', 'x', 'i.png'],
    ])
    accepted(t, await post(base, { ...form, key: sender.apiKey }))
    for (const [to, number] of [
      [one, '1'],
      [two, '2'],
    ] as const) {
      const mail = await read(to)
      t.equal(mail.subject, `For ${number}`)
      t.strictSame(mail.to?.value, [{ address: to, name: '' }], 'alone in To')
      t.match(mail.text, new RegExp(`T ${number}[^]*foo`))
      t.equal(mail.headers.get('x-shop'), 'b')
      t.match(mail.attachments, [{ filename: 'i.png', cid: 'pic', related: true }])
    }
    t.notOk(
      sink.messages.some(({ to }) => to.includes(desk)),
      'to of the form is not used',
    )
    const { deliveries } = await service.core.messages.list({
      accountId: sender.accountId,
      search: { recipientKey: one },
      limit: 1,
    })
    t.strictSame(deliveries[0]?.tags, ['c'])
    const shown = await service.core.messages.show(deliveries[0]?.messageId ?? '')
    t.strictSame(
      shown?.deliveries.map(({ metadata }) => metadata),
      [{ k: 'v' }, { k: 'v' }],
    )
  },
)

t.test('a form of PHP, with brackets and a repeated address, sends one copy to each', async (t) => {
  const [ada, bob] = [someone(), someone()]
  const form = encoded([
    ['api_user', 'u'],
    ['api_key', sender.apiKey],
    ['to[]', ada],
    ['to[]', `Bob <${bob}>`],
    ['bcc[0]', ada.toUpperCase()],
    ['from', desk],
    ['subject', 'A & B = 100%'],
    ['text', 'äöü'],
    ['headers', '[]'],
    ['files[note.txt]', 'as text'],
  ])
  accepted(t, await post(base, form))
  const mail = await read(bob)
  t.strictSame(
    mail.to?.value.map(({ name }) => name),
    ['', 'Bob'],
  )
  t.equal(mail.subject, 'A & B = 100%')
  t.match(mail.attachments, [{ filename: 'note.txt', content: Buffer.from('as text') }])
  t.equal(sink.messages.filter(({ to }) => to.some((one) => one.toLowerCase() === ada)).length, 1)
})

t.test('with sub and without to, cc and bcc get one copy', async (t) => {
  const [ada, bob, cee] = [someone(), someone(), someone()]
  const api = JSON.stringify({ sub: { '-n-': ['Ada', 'Bob'] } })
  const entries: FormEntry[] = [
    ['to[]', ada],
    ['to[]', bob],
    ['cc', cee],
    ['from', desk],
    ['subject', '-n-'],
    ['text', '-n-'],
    ['x-smtpapi', api],
  ]
  accepted(t, await post(base, { ...multipart(entries), key: sender.apiKey }))
  t.equal((await read(bob)).subject, 'Bob')
  t.equal((await read(cee)).subject, 'Ada')
  t.strictSame((await read(bob)).cc, undefined)
  t.equal(sink.messages.filter(({ to }) => to.includes(cee)).length, 1)
})

t.test('what is wrong is told with the name of the field, and nothing is sent', async (t) => {
  proves(t, 'form.errors')
  const send = (...entries: FormEntry[]) => post(base, { ...multipart(entries), key: sender.apiKey })
  const to = someone()
  const least: FormEntry[] = [
    ['to', to],
    ['from', desk],
    ['subject', 'S'],
    ['text', 'T'],
  ]
  refused(t, await send(), 400, [
    'Missing destination email',
    'Empty from email address (required)',
    'Missing subject',
    'Missing email body',
  ])
  refused(t, await send(...least, ['to', 'nobody']), 400, [/^to\[1\]: Does not contain a valid address/])
  refused(t, await send(...least, ['headers', '{']), 400, ['headers: must be a JSON object'])
  refused(t, await send(...least, ['headers', '{"Subject":"x"}']), 400, [/^headers\.Subject: /])
  refused(t, await send(...least, ['x-smtpapi', '{"to":']), 400, ['x-smtpapi: must be valid JSON'])
  refused(t, await send(...least, ['x-smtpapi', '{"asm_group_id":999999999}']), 400, [/^x-smtpapi\.asm_group_id: /])
  refused(t, await send(['from', desk], ['subject', 'S'], ['text', 'T'], ['x-smtpapi', '{"category":"c"}']), 400, [
    'Missing destination email',
  ])
  refused(t, await send(...least, ['from', 'desk@other.example']), 403, [/verified Sender Identity/])
  refused(t, await post(base, { ...multipart(least), key: 'pr_wrong' }), 401, [/./])
  refused(t, await post(base, multipart(least)), 401, [/./])
  refused(
    t,
    await post(
      base,
      multipart([...least, ['text', `\r\nContent-Disposition: form-data; name="api_key"\r\n\r\n${sender.apiKey}`]]),
    ),
    401,
    [/./],
  )
  refused(t, await post(base, encoded([['api_key', 'pr_wrong']])), 401, [/./])
  const named: FormEntry = ['files[a"; name="api_key]', sender.apiKey, 'a"; name="api_key']
  refused(t, await post(base, multipart([...least, named])), 401, [/./])
  refused(t, await post(base, { type: 'application/json', body: '{}', key: sender.apiKey }), 415, [
    /multipart\/form-data/,
  ])
  refused(t, await post(base, { ...multipart(least), method: 'PUT' }), 405, [/POST/])
  const cut = { type: 'multipart/form-data; boundary=b', body: '--b\r\n', key: sender.apiKey }
  refused(t, await post(base, cut), 400, [/multipart/])
  const type = 'application/x-www-form-urlencoded'
  refused(t, await post(base, { type, body: 'to=%ff', key: sender.apiKey }), 400, ['form escapes are not UTF-8'])
  const many = { type, body: 'a&'.repeat(200_001), key: sender.apiKey }
  refused(t, await post(base, many), 413, ['A form may have at most 200000 parameters.'])
  const text =
    '--b\r\nContent-Disposition: form-data; name="text"\r\nContent-Type: text/plain; charset=klingon\r\n\r\nx\r\n--b--\r\n'
  const strange = { type: cut.type, body: text, key: sender.apiKey }
  refused(t, await post(base, strange), 400, ['text: is not valid klingon'])
  const large = multipart([...least, ['files[a.bin]', Buffer.alloc(22_500_000), 'a.bin'], ['api_key', sender.apiKey]])
  refused(t, await post(base, large), 413, [/more than 21 MB needs its key in Authorization/])
  const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['stats'] } as never)
  refused(t, await post(base, { ...multipart(least), key: secret }), 403, [/./])
  t.notOk(sink.messages.some((one) => one.to.includes(to)))
})

t.test('a large form and a repeated one with an Idempotency-Key are sent once each', async (t) => {
  const [ada, bob] = [someone(), someone()]
  const form = (to: string, ...more: FormEntry[]) =>
    multipart([['to', to], ['from', desk], ['subject', 'S'], ['text', 'T'], ...more, ['api_key', sender.apiKey]])
  accepted(t, await post(base, form(ada, ['files[large.bin]', Buffer.alloc(3_000_000, 7), 'large.bin'])))
  const { attachments } = await read(ada)
  t.strictSame(
    attachments.map(({ filename, content }) => [filename, content.length]),
    [['large.bin', 3_000_000]],
  )
  const again = { ...form(bob, ['files[none]', '', '']), headers: { 'idempotency-key': 'form-1' } }
  accepted(t, await post(base, again))
  const second = await post(base, again)
  accepted(t, second)
  t.equal(second.headers['idempotent-replayed'], 'true')
  t.strictSame((await read(bob)).attachments, [], 'no file was chosen')
  t.equal(sink.messages.filter((one) => one.to.includes(bob)).length, 1)
})
