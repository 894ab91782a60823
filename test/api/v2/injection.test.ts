import t from 'tap'
import { naughtyStrings, skipWithoutThem } from '../../core/naughty-strings.ts'
import { v2Body } from '../../helpers/send.ts'
import { until } from '../../helpers/until.ts'
import { decodeWords, headerNames, makeArrivals } from '../arrivals.ts'
import { asForm, call, errorText, FORM, messageIdOf, refused } from '../call.ts'

const { service, base, sender, sink, send, copies, story, deliver } = await makeArrivals(t)
const from = `desk@${sender.domain}`
const key = { api_key: sender.apiKey }
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count
const one = (element: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'lena@harbor.example', ...element }],
})

/** Every field that ends up in a header or an envelope, with the parameter that must be named (V20, V21). */
const PLACES: readonly (readonly [parameter: string, extra: (text: string) => Record<string, unknown>])[] = [
  ['from.fromEmail', (text) => ({ from: { fromEmail: text.replace('@', `@${sender.domain}`) } })],
  ['from.fromName', (text) => ({ from: { fromEmail: from, fromName: text } })],
  ['subject', (text) => ({ subject: text })],
  ['replyToId', (text) => ({ replyToId: text })],
  ['tags', (text) => ({ tags: [text] })],
  ['personalizations[0].recipient', (text) => one({ recipient: text })],
  ['personalizations[0].recipient_cc', (text) => one({ recipient_cc: [text] })],
  ['personalizations[0].recipient_bcc', (text) => one({ recipient_bcc: [text] })],
  ['personalizations[0].recipient_bcc', (text) => ({ settings: { bcc: text } })],
  ['personalizations[0].x-apiheader', (text) => one({ 'x-apiheader': text })],
  ['personalizations[0].x-apiheader_cc', (text) => one({ 'x-apiheader_cc': text })],
  ['personalizations[0].x-headers.X-A', (text) => one({ 'x-headers': { 'X-A': text } })],
  ['personalizations[0].x-headers', (text) => one({ 'x-headers': { [text]: 'a' } })],
  [
    'personalizations[0].attachments[0].fileName',
    (text) => one({ attachments: [{ fileName: text, fileContent: 'YQ==' }] }),
  ],
  ['attachments[0].fileName', (text) => ({ attachments: [{ fileName: text, fileContent: 'YQ==' }] })],
]
/** Ways out of a line; each holds an address, so that what is left would be one. */
const WAYS_OUT = [
  'a@harbor.example\r\nBcc: evil@evil.example',
  'a@harbor.example\nBcc: evil@evil.example',
  'a@harbor.example\rBcc: evil@evil.example',
  'a@harbor.example\0evil@evil.example',
  '\r\na@harbor.example',
  'a@harbor.example\r\n',
  'a@harbor.example\n',
  'a@harbor.example\r\n\r\n<script>body</script>',
  'a@harbor.example\r\n.\r\nMAIL FROM:<evil@evil.example>',
  'a@harbor.example>\r\nRCPT TO:<evil@evil.example',
  'a@harbor.example\r\n evil@evil.example',
]
for (const [parameter, extra] of PLACES) {
  t.test(
    `CR, LF and NUL in ${parameter} are refused with 113 and named, in JSON and as a form, and nothing is stored`,
    async (t) => {
      const before = await stored()
      for (const text of WAYS_OUT) {
        const body = v2Body(sender, extra(text))
        const answers = [
          call(base, { headers: key, body }),
          call(base, { headers: { ...key, ...FORM }, body: asForm(body) }),
        ]
        for (const answer of await Promise.all(answers)) {
          // A form has no place for an unnamed list.
          const named = errorText(answer).replace(/^Parameter \[tags\[0\]\]/, 'Parameter [tags]')
          refused(t, answer, [400, 113], JSON.stringify(text))
          t.ok(named.startsWith(`Parameter [${parameter}] `), `${JSON.stringify(text)}: ${errorText(answer)}`)
        }
      }
      t.equal(await stored(), before)
    },
  )
}

t.test('a merge value may have line ends in content, and not where a header takes it in', async (t) => {
  const before = await stored()
  for (const value of WAYS_OUT) {
    const attributes = { A: value }
    for (const extra of [
      { ...one({ attributes }), subject: 'Hi [%A%]' },
      { ...one({ attributes }), subject: 'Hi [% a %]' },
      { ...one({ attributes }), from: { fromEmail: from, fromName: '[%A%]' } },
      one({ attributes, 'x-headers': { 'X-A': 'b [%A%]' } }),
    ]) {
      const answer = await call(base, { headers: key, body: v2Body(sender, extra) })
      refused(t, answer, [400, 113])
      t.ok(errorText(answer).startsWith('Parameter [personalizations[0].attributes'), errorText(answer))
    }
  }
  t.equal(await stored(), before)
  const { mail } = await deliver({ ...one({ attributes: { A: 'one\r\ntwo' } }), content: '<p>[%A%]</p>' })
  t.equal(mail.html, '<p>one\ntwo</p>')
})

/** Fields the service writes, or that change who a message is from or to, or how it is read (V21). */
const RESERVED = [
  'From',
  'To',
  'Cc',
  'Bcc',
  'bcc',
  'BCC',
  'Sender',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'Return-Path',
  'Received',
  'Delivered-To',
  'DKIM-Signature',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'content-disposition',
  'Resent-To',
  'Resent-Bcc',
  'ARC-Seal',
  'Authentication-Results',
  'X-APIHEADER',
  'X-Tags',
]
t.test('header fields of the service’s own are refused and named', async (t) => {
  const before = await stored()
  for (const name of RESERVED) {
    const answer = await call(base, {
      headers: key,
      body: v2Body(sender, one({ 'x-headers': { [name]: 'evil@evil.example' } })),
    })
    refused(t, answer, [400, 113, `Parameter [personalizations[0].x-headers.${name}] is invalid: header is reserved`])
  }
  for (const name of ['X A', 'X:A', 'X-Ä', '', 'X\tA', 'X-A:', 'x'.repeat(77)]) {
    const answer = await call(base, { headers: key, body: v2Body(sender, one({ 'x-headers': { [name]: 'a' } })) })
    refused(t, answer, [400, 113, /^Parameter \[personalizations\[0\]\.x-headers\] is invalid: /], name)
  }
  t.equal(await stored(), before)
})

/** What a careless parser takes for several addresses, another one, or a command. */
const ADDRESSES = [
  'a@harbor.example, evil@evil.example',
  'a@harbor.example evil@evil.example',
  'a@harbor.example;evil@evil.example',
  '<a@harbor.example>',
  'Evil <evil@evil.example> <a@harbor.example>',
  'evil@evil.example <a@harbor.example>, b@harbor.example',
  '<a@harbor.example><evil@evil.example>',
  'Evil <evil@evil.example',
  'group: evil@evil.example;',
  'a@harbor.example> SIZE=1',
  'a@harbor.example>BODY=7BIT',
  '@relay.example:evil@evil.example',
  'evil%evil.example@harbor.example@x',
  'a@[127.0.0.1]',
  'a@harbor.example\t',
  'a(comment)@harbor.example',
]
t.test('what is not one address is sent nowhere: no command and no header names it', async (t) => {
  const accepted = await send({
    personalizations: [...ADDRESSES, 'end@harbor.example'].map((recipient) => ({ recipient })),
  })
  const { deliveries } = await story(accepted)
  await copies(accepted)
  const queued = deliveries.filter(({ state }) => state !== 'dropped')
  for (const { recipient } of queued) t.match(recipient, /^[^\s<>,;:]+@harbor\.example$/, recipient)
  await until('all copies', async () =>
    (await story(accepted)).deliveries.every(({ state }) => !['queued', 'sending'].includes(state)),
  )
  t.notOk(sink.commands.some((command) => /evil|SIZE=1\b.*SIZE|7BIT|relay\.example/.test(command)))
  t.notOk(sink.messages.some(({ data }) => /evil/.test(data.toString().split('\r\n\r\n')[0] ?? '')))
})

t.test('text that looks like headers, commands or boundaries stays text', async (t) => {
  const text = 'x: y Bcc: evil@evil.example =?utf-8?Q?=0D=0ABcc:_evil@evil.example?= %0d%0aBcc: evil@evil.example'
  const copy = await deliver({
    ...one({ 'x-headers': { 'X-A': text } }),
    from: { fromEmail: from, fromName: `${text}" <evil@evil.example>` },
    subject: text,
    content: '--=_a.1--\r\n.\r\nQUIT\r\n\r\nFrom me\r\n..\r\n<p>end</p>',
  })
  t.equal(copy.mail.subject, text)
  t.strictSame(copy.mail.from?.value, [{ address: from, name: `${text}" <evil@evil.example>` }])
  t.equal(decodeWords(String(copy.mail.headers.get('x-a'))), text)
  t.equal(copy.mail.html, '--=_a.1--\n.\nQUIT\n\nFrom me\n..\n<p>end</p>')
  t.notOk(headerNames(copy.raw).includes('bcc'))
})

t.test(
  'every naughty string is stored and shown unchanged, as subject, tag, reference and value',
  skipWithoutThem,
  async (t) => {
    const words = naughtyStrings.filter((word) => word.trim() !== '' && word.length < 200 && !/[\r\n\0]/.test(word))
    t.ok(words.length > 300)
    const altered: number[] = []
    for (const [at, word] of words.entries()) {
      const body = v2Body(sender, {
        ...one({ recipient: 'not an address', 'x-apiheader': word, attributes: { [word]: word } }),
        subject: word,
        tags: [word],
      })
      const told = await service.core.messages.show(messageIdOf(await call(base, { headers: key, body })))
      const same = told?.subject === word && told.tags[0] === word.trim() && told.deliveries[0]?.reference === word
      // By number: control characters in a message would confuse the readers of test results.
      if (!same) altered.push(at)
    }
    t.strictSame(altered, [])
    t.equal((await service.sql`select to_regclass('messages') is not null as there`)[0]?.there, true)
  },
)

t.test('every naughty string arrives unchanged, as content, value and file', skipWithoutThem, async (t) => {
  // One message: all of them in its content, a value for each, and a file for each.
  const words = naughtyStrings.filter((word) => word !== '')
  const attributes = Object.fromEntries(words.map((word, at) => [`v${at}`, word]))
  const lines = words.map((_word, at) => `[%v${at}%]`)
  const attachments = words.map((word, at) => ({
    fileName: `${at}.bin`,
    fileContent: Buffer.from(word).toString('base64'),
  }))
  const content = `<pre>\n${words.map((word) => word.replaceAll('[%', '[ %')).join('\n')}\n${lines.join('\n')}\n</pre>`
  const { mail } = await deliver({ ...one({ attributes }), content, attachments })
  t.equal(mail.attachments.length, words.length)
  const changed = words.flatMap((word, at) => (mail.attachments[at]?.content.equals(Buffer.from(word)) ? [] : [at]))
  t.strictSame(changed, [])
  const expected = content
    .replace(/\[%v(\d+)%\]/g, (_tag, at: string) => words[Number(at)] ?? '')
    .replaceAll('\r\n', '\n')
  t.ok(mail.html === expected, 'the content is the same')
})
