import t from 'tap'
import { until } from '../../helpers/until.ts'
import { type Copy, decodeWords, headerLines, makeArrivals } from '../arrivals.ts'

const { service, sender, send, copies, story, deliver } = await makeArrivals(t)

const one = (element: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'lena@harbor.example', ...element }],
})
const file = (fileName: string, text: string) => ({ fileName, fileContent: Buffer.from(text).toString('base64') })
const files = ({ mail }: Copy) => mail.attachments.map(({ filename, content }) => [filename, content.toString()])

t.test('sendEmail answers the success envelope with a message id, and the message arrives (E1)', async (t) => {
  const answer = await send()
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^application\/json/)
  t.strictSame(Object.keys(answer.body), ['data', 'message', 'error_info'])
  t.match(answer.body, { message: 'Success', error_info: null })
  t.match(answer.body.data?.message_id, /^[0-9a-f]{32}$/)

  const [copy] = await copies(answer)
  t.equal(copy?.recipient, 'lena@harbor.example')
  t.strictSame(copy?.mail.from?.value, [{ address: `desk@${sender.domain}`, name: 'Ship Desk' }])
  t.equal(copy?.mail.subject, 'Berth 4')
  t.equal(copy?.mail.html, '<p>Your berth is ready.</p>')
})

t.test('a full call arrives at To, Cc, Bcc and settings.bcc, and no copy reveals the Bcc (E2)', async (t) => {
  const answer = await send({
    ...one({
      recipient_cc: ['ops@harbor.example'],
      recipient_bcc: ['audit@quay.example'],
      'x-apiheader': 'order-9001',
      'x-apiheader_cc': 'order-9001-cc',
      attributes: { NAME: 'Lena', BERTH: '4' },
      'x-headers': { 'X-Voyage': 'V77' },
      attachments: [file('pass.txt', 'Pass 4')],
    }),
    tags: 'berth,confirm',
    subject: 'Berth [%BERTH%]',
    content: '<p>Hi [% NAME %]</p>',
    ampcontent: '<!doctype html><html amp4email></html>',
    attachments: [file('rules.txt', 'Rules')],
    settings: { footer: 0, clicktrack: 1, opentrack: 1, unsubscribe: 1, bcc: 'archive@quay.example' },
    replyToId: 'help@ship.example',
    templateId: 0,
  })
  t.equal(answer.status, 200)
  const all = await copies(answer, 4)
  t.strictSame(
    all.map(({ recipient }) => recipient),
    ['archive@quay.example', 'audit@quay.example', 'lena@harbor.example', 'ops@harbor.example'],
  )
  t.equal(new Set(all.map(({ mail }) => mail.messageId)).size, 1, 'the copies of one envelope share their Message-ID')
  for (const copy of all) {
    t.strictSame(
      headerLines(copy.raw).filter((line) => /^(to|cc|bcc):/i.test(line)),
      ['To: lena@harbor.example', 'Cc: ops@harbor.example'],
    )
    t.notMatch(copy.raw, /audit@|archive@/)
    t.equal(copy.mail.subject, 'Berth 4')
    t.match(copy.mail.html, /^<p>Hi Lena<\/p><p [^>]*><a href="[^"]+">Unsubscribe<\/a><\/p><img [^>]+>$/)
    t.equal(copy.mail.replyTo?.text, 'help@ship.example')
    t.equal(copy.mail.headers.get('x-voyage'), 'V77')
    t.strictSame(files(copy).slice(-2), [
      ['rules.txt', 'Rules'],
      ['pass.txt', 'Pass 4'],
    ])
  }

  const { tags, settings, deliveries } = await story(answer)
  t.strictSame(tags, ['berth', 'confirm'])
  t.same(settings, { clickTracking: true, openTracking: true, unsubscribe: true })
  t.strictSame(
    deliveries.map(({ kind, recipient }) => `${kind} ${recipient}`),
    ['to lena@harbor.example', 'cc ops@harbor.example', 'bcc audit@quay.example', 'bcc archive@quay.example'],
  )
  t.strictSame(
    deliveries.slice(0, 2).map(({ reference }) => reference),
    ['order-9001', 'order-9001-cc'],
  )
  const numbers = deliveries.map(({ transactionNumber }) => BigInt(transactionNumber))
  t.equal(new Set(numbers).size, 4, 'each copy has a transaction number of its own')
  t.ok(numbers.every((number) => number % 4n === 0n))
})

t.test('many envelopes get their own values, and none sees another (E3)', async (t) => {
  const answer = await send({
    personalizations: [
      { recipient: 'a@harbor.example', attributes: { NAME: 'Ada' }, attachments: [file('ada.txt', 'A')] },
      { recipient: 'b@harbor.example', attributes: { NAME: 'Bo' }, 'x-headers': { 'X-Only': 'Bo' } },
    ],
    subject: 'Hi [%NAME%]',
    content: 'Dear [%NAME%]',
    attachments: [file('all.txt', 'All')],
  })
  const [ada, bo] = (await copies(answer, 2)) as [Copy, Copy]
  t.match(ada.mail, { subject: 'Hi Ada', html: 'Dear Ada', to: { text: 'a@harbor.example' } })
  t.match(bo.mail, { subject: 'Hi Bo', html: 'Dear Bo', to: { text: 'b@harbor.example' } })
  t.strictSame(files(ada), [
    ['all.txt', 'All'],
    ['ada.txt', 'A'],
  ])
  t.strictSame(files(bo), [['all.txt', 'All']])
  t.notOk(ada.mail.headers.has('x-only'))
  t.equal(bo.mail.headers.get('x-only'), 'Bo')
  t.not(ada.mail.messageId, bo.mail.messageId)
})

t.test('a template replaces the dummy content clients send with it (E4)', async (t) => {
  const template = await service.core.templates.create({
    accountId: sender.accountId,
    name: 'late',
    content: '<p>Dear [%NAME%], you are late.</p>',
  })
  for (const templateId of [template.id, String(template.id)]) {
    const answer = await send({
      ...one({ attributes: { NAME: 'Ada' }, 'x-apiheader': `late,${template.id}` }),
      subject: 'Reminder',
      content: '%20',
      templateId,
      settings: { clicktrack: 1, opentrack: 1 },
    })
    const [copy] = await copies(answer)
    t.match(copy?.mail.html, /^<p>Dear Ada, you are late\.<\/p><img [^>]+>$/)
    t.equal((await story(answer)).deliveries[0]?.reference, `late,${template.id}`)
  }
})

t.test('the AMP part stands before the HTML part, and is merged too', async (t) => {
  const { raw } = await deliver({ ...one({ attributes: { A: 'amp' } }), ampcontent: '<html amp4email>[%A%]</html>' })
  t.match(raw, /multipart\/alternative/)
  t.ok(raw.indexOf('text/x-amp-html') < raw.indexOf('text/html'))
  t.ok(raw.indexOf('text/x-amp-html') > 0)
  t.match(raw, '<html amp4email>amp</html>')
})

const WORDS = [
  'Größe ✓ 船',
  '🚢'.repeat(40),
  '=?utf-8?B?QQ==?= is an encoded word',
  'a'.repeat(3000),
  `${'b'.repeat(500)} c`,
]
for (const word of WORDS) {
  t.test(`text goes through header fields unchanged: ${word.slice(0, 12)}… (${word.length} characters)`, async (t) => {
    const name = `${word.replaceAll('?', '').slice(0, 60)}.txt`
    const copy = await deliver({
      ...one({ 'x-headers': { 'X-Word': word } }),
      from: { fromEmail: `desk@${sender.domain}`, fromName: word },
      subject: word,
      content: word,
      attachments: [file(name, word)],
    })
    t.equal(copy.mail.subject, word)
    t.equal(copy.mail.from?.value[0]?.name, word)
    t.equal(decodeWords(String(copy.mail.headers.get('x-word'))), word)
    t.equal(copy.mail.html, word)
    t.strictSame(files(copy), [[name, word]])
    const longest = Math.max(...copy.raw.split('\r\n').map((line) => line.length))
    t.ok(longest <= 998, `RFC 5322 2.1.1: the longest line has ${longest} characters`)
    t.match(copy.raw, /^[\r\n\t\x20-\x7e]*$/, 'only ASCII on the wire')
  })
}

t.test('Cc takes a bare string, or several addresses between commas (E7)', async (t) => {
  const answer = await send(
    one({ recipient_cc: 'ops@harbor.example', recipient_bcc: 'x@quay.example, y@quay.example' }),
  )
  t.strictSame(
    (await copies(answer, 4)).map(({ recipient }) => recipient),
    ['lena@harbor.example', 'ops@harbor.example', 'x@quay.example', 'y@quay.example'],
  )
})

t.test('a mailbox named twice in one envelope gets one copy', async (t) => {
  const answer = await send(one({ recipient_cc: ['LENA@harbor.example', 'ops@harbor.example'], recipient_bcc: [] }))
  const { deliveries } = await story(answer)
  t.strictSame(
    deliveries.map(({ recipient }) => recipient),
    ['lena@harbor.example', 'ops@harbor.example'],
  )
})

t.test('a suppressed recipient is accepted and dropped, with an event (E8)', async (t) => {
  const { suppressions } = service.core
  const add = { accountId: sender.accountId, reason: 'hardbounce' } as const
  await suppressions.add({ ...add, scope: 'address', value: 'gone@harbor.example' })
  await suppressions.add({ ...add, scope: 'domain', value: 'closed.example' })
  const answer = await send({
    personalizations: [
      { recipient: '"Gone"@HARBOR.example' },
      { recipient: 'anyone@closed.example' },
      { recipient: 'here@harbor.example' },
    ],
  })
  t.equal(answer.status, 200)
  t.strictSame(
    (await copies(answer)).map(({ recipient }) => recipient),
    ['here@harbor.example'],
  )
  const { deliveries, events } = await until('the delivery', async () => {
    const told = await story(answer)
    return told.deliveries[2]?.state === 'delivered' && told
  })
  t.strictSame(
    deliveries.map(({ state, reason }) => [state, reason]),
    [
      ['dropped', 'hardbounce'],
      ['dropped', 'hardbounce'],
      ['delivered', null],
    ],
  )
  const dropped = events.filter(({ type }) => type === 'dropped')
  t.strictSame(dropped.map(({ recipientNo }) => recipientNo).sort(), [0, 1])
  t.match(dropped[0], { detail: { reason: 'hardbounce' } })
})

for (const recipient of [
  'not-an-address',
  'Lena <lena@harbor.example',
  'a@b@harbor.example',
  'a@[127.0.0.1]',
  'a@-x.example',
]) {
  t.test(`a malformed recipient is accepted, and an invalid event says so: ${recipient} (E9)`, async (t) => {
    const answer = await send({ personalizations: [{ recipient }, { recipient: 'here@harbor.example' }] })
    t.equal(answer.status, 200)
    const { deliveries, events } = await story(answer)
    t.match(deliveries[0], { state: 'dropped', reason: 'invalid', recipient })
    t.match(
      events.filter(({ recipientNo }) => recipientNo === 0),
      [{ type: 'invalid' }],
    )
    t.equal((await copies(answer)).length, 1)
  })
}
