import { OPERATOR } from '@postrider/core'
import t from 'tap'
import { decodeWords } from '../api/arrivals.ts'
import { proves } from '../api/v3/conformance/proves.ts'
import { openSession, mail as rawMail, shown } from './session.ts'
import { makeSmtpApiMail } from './smtpapi-mail.ts'

const { service, sender, send, arrived, read, someone } = await makeSmtpApiMail(t)
const { core, sql } = service
const { accountId } = sender
const desk = `desk@${sender.domain}`
const filter = (settings: object) => ({ settings: { enable: 1, ...settings } })

/** What is kept of each recipient of a message, by address. */
async function argsOf(id: string): Promise<Record<string, unknown>> {
  const rows = await sql<{ recipient: string; args: unknown }[]>`
    select recipient, personal -> 'customArgs' as args from delivery_queue where message_id = ${id}::uuid
    union all
    select recipient, personal -> 'customArgs' from finished_deliveries where message_id = ${id}::uuid`
  return Object.fromEntries(rows.map(({ recipient, args }) => [recipient, args]))
}

t.test(
  'P50: AUTH LOGIN as apikey, with to, sub, category, unique_args and asm_group_id, sends two messages',
  async (t) => {
    proves(t, 'smtpapi.keys')
    const { id } = await core.groups.create(accountId, { name: 'Orders', description: '', isDefault: false })
    const [ada, bob] = [someone(), someone()]
    const api = {
      to: [ada, bob],
      sub: { '-name-': ['Ada', 'Bob'] },
      category: 'receipts',
      unique_args: { order: '4711' },
      asm_group_id: id,
    }
    const story = await send(api, { subject: 'For -name-', text: 'Dear -name-', html: '<b>-name-</b>' })
    t.strictSame([story.tags, (story.settings as { group?: number }).group], [['receipts'], id])
    t.strictSame(await argsOf(story.id), { [ada]: { order: '4711' }, [bob]: { order: '4711' } })
    const asked = { accountId, first: '2026-01-01', messageId: story.id, limit: 10 }
    const { rows } = await core.eventLog.page(asked, ({ subject }) => subject)
    t.strictSame(rows, ['For -name-', 'For -name-'], 'the log has it as it was handed in')
    for (const [to, name] of [
      [ada, 'Ada'],
      [bob, 'Bob'],
    ] as const) {
      const copy = await read(to)
      const [text, ...links] = copy.text?.trim().split('\n\n') ?? []
      const [html = '', line] = String(copy.html).trim().split('<p')
      t.strictSame([copy.subject, text, html], [`For ${name}`, `Dear ${name}`, `<b>${name}</b>`])
      for (const link of [...links, line]) t.match(link, /Unsubscribe From This List.*Manage Email Preferences/)
      t.strictSame(copy.to?.value, [{ address: to, name: '' }])
      const { data } = await arrived(to)
      t.notMatch(data.toString(), /x-smtpapi/i)
      t.notOk(data.includes(to === ada ? bob : ada))
    }
  },
)

t.test('values name sections; without to they are of the RCPT recipients, in their order', async (t) => {
  const [ada, bob] = [someone(), someone()]
  const api = {
    sub: { '%greeting%': ['%ms%', '%mr%'], '%name%': ['Ada'] },
    section: { '%ms%': 'Dear Ms. %name%', '%mr%': 'Dear Mr. %name%' },
  }
  await send(api, { to: [ada, bob], text: '%greeting%!', replyTo: `help@${sender.domain}` })
  t.match((await read(ada)).text, /^Dear Ms\. Ada!/)
  t.match((await read(bob)).text, /^Dear Mr\. !/)
  t.strictSame((await read(ada)).replyTo?.value, [{ address: `help@${sender.domain}`, name: '' }])
  t.strictSame((await read(bob)).to?.value, [{ address: bob, name: '' }])
})

t.test('all that a message holds is there again when its text is substituted', async (t) => {
  const to = someone()
  const date = new Date('2026-01-05T10:11:12Z')
  await send(
    { sub: { '-name-': ['Zoë'] } },
    {
      from: { name: 'Ship, Desk', address: desk },
      to: { name: 'Ada, Countess', address: to },
      replyTo: ['Harbor <harbor@quay.example>', 'help@quay.example'],
      subject: 'Überfahrt -name-',
      text: 'Grüße -name-',
      html: '<p>-name- <img src="cid:anchor@ship"></p>',
      date,
      messageId: '<own-1@ship.example>',
      headers: { 'X-Campaign': 'Häfen', 'List-ID': 'berths <b.example>' },
      references: '<a@b.example> <c@d.example>',
      inReplyTo: '<c@d.example>',
      attachments: [
        { filename: 'Fahrplan für März.pdf', content: Buffer.from('the plan -name-') },
        { filename: 'anchor.png', content: Buffer.from('a picture'), cid: 'anchor@ship' },
      ],
    },
  )
  const copy = await read(to)
  t.strictSame([copy.subject, copy.text?.trim()], ['Überfahrt Zoë', 'Grüße Zoë'])
  t.match(copy.html || '', /<p>Zoë <img src="cid:anchor@ship"><\/p>/)
  t.strictSame(
    [copy.from.value[0], copy.to?.value, copy.replyTo?.value],
    [
      { address: desk, name: 'Ship, Desk' },
      [{ address: to, name: 'Ada, Countess' }],
      [
        { address: 'harbor@quay.example', name: 'Harbor' },
        { address: 'help@quay.example', name: '' },
      ],
    ],
  )
  t.strictSame([copy.date, copy.messageId], [date, '<own-1@ship.example>'])
  t.strictSame(
    [
      decodeWords(String(copy.headers.get('x-campaign'))),
      copy.headers.get('references'),
      copy.headers.get('in-reply-to'),
    ],
    ['Häfen', ['<a@b.example>', '<c@d.example>'], '<c@d.example>'],
  )
  t.ok(copy.headers.has('list'))
  const files = copy.attachments.map(({ filename, content, cid, contentType }) => [
    ...[filename, content.toString(), contentType, cid ?? null],
  ])
  t.strictSame(files.sort(), [
    ['Fahrplan für März.pdf', 'the plan -name-', 'application/pdf', null],
    ['anchor.png', 'a picture', 'image/png', 'anchor@ship'],
  ])
})

t.test('an invitation stays one', async (t) => {
  const to = someone()
  const content = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n'
  await send({ sub: { '-name-': ['Ada'] } }, { to, text: 'Dear -name-', icalEvent: { method: 'REQUEST', content } })
  const copy = await read(to)
  t.match(copy.text, /Dear Ada/)
  t.ok((await arrived(to)).data.toString().match(/^Content-Type: text\/calendar/gim))
  t.ok(copy.attachments.some((file) => file.content.toString().includes('METHOD:REQUEST')))
})

t.test('a long subject is kept to its end', async (t) => {
  const to = someone()
  const subject = `${'a subject '.repeat(100)}for -name-`
  await send({ sub: { '-name-': ['Ada'] } }, { to, subject })
  t.equal((await read(to)).subject, subject.replace('-name-', 'Ada'))
})

t.test('texts of one kind are one text', async (t) => {
  const to = someone()
  const body = '--b\r\n\r\nDear -name-\r\n--b\r\n\r\nThe list\r\n--b--'
  const client = await openSession(t, service, sender)
  const head = 'Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b'
  const message = `X-SMTPAPI: {"sub":{"-name-":["Ada"]}}\r\nFrom: ${desk}\r\nTo: ${to}\r\n${head}\r\n\r\n${body}\r\n`
  await shown(service, await client.submit(desk, to, message))
  t.match((await read(to)).text, /^Dear Ada\s+The list/)
})

t.test('an empty message has its subject substituted', async (t) => {
  const to = someone()
  await send({ sub: { '-name-': ['Ada'] } }, { to, subject: 'For -name-', text: '' })
  t.equal((await read(to)).subject, 'For Ada')
})

/** What can't be made anew without breaking it. */
const CLOSED: readonly [what: string, head: string, body: string][] = [
  [
    'a signed message',
    'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary=b',
    '--b\r\nContent-Type: text/plain\r\n\r\nDear -name-\r\n--b\r\nContent-Type: application/pgp-signature\r\n\r\nx\r\n--b--',
  ],
  ['an encrypted one', 'Content-Type: application/pkcs7-mime; smime-type=enveloped-data', 'LW5hbWUt'],
  ['a text with a signature in it', 'Content-Type: text/plain', '-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\n-name-'],
  [
    'one that holds another message',
    'Content-Type: multipart/mixed; boundary=b',
    '--b\r\n\r\nDear -name-\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: s\r\n\r\nx\r\n--b--',
  ],
  ['one with a header beyond reading', `X-Long: ${`${'a '.repeat(100)}\r\n `.repeat(700)}a\r\nX-End: 1`, '-name-'],
  ['one whose parts have no end', 'Content-Type: multipart/mixed', '--b\r\n\r\n-name-\r\n'],
  [
    'a text above an HTML that does not say it too',
    'Content-Type: multipart/mixed; boundary=b',
    '--b\r\n\r\nDear -name-\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>-name-</b>\r\n--b--',
  ],
  [
    'a text below alternatives that do not say it too',
    'Content-Type: multipart/mixed; boundary=b',
    '--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\r\nDear -name-\r\n--c\r\nContent-Type: ' +
      'text/html\r\n\r\n<b>-name-</b>\r\n--c--\r\n--b\r\n\r\nThe list\r\n--b--',
  ],
  [
    'a text file within a text',
    'Content-Type: multipart/mixed; boundary=b',
    '--b\r\n\r\n-name-\r\n--b\r\nContent-Type: text/plain; name=log.txt\r\nContent-Disposition: inline\r\n\r\nlog\r\n--b--',
  ],
  ['one whose Reply-To is no address', 'Reply-To: <berth..4@quay..example>', '-name-'],
  [
    'one of more header fields than a copy has',
    Array.from({ length: 51 }, (_, at) => `X-${at}: y`).join('\r\n'),
    '-name-',
  ],
  ['one of a longer header field than a copy has', `References:${'\r\n <berth@quay.example>'.repeat(250)}`, '-name-'],
  ['one of a longer name of a field than a copy has', `X-${'a'.repeat(80)}: y`, '-name-'],
  ['one of a longer subject than a copy has', `X-First: 1\r\nSubject:${'\r\n a subject'.repeat(500)}`, '-name-'],
]

for (const [what, head, body] of CLOSED) {
  t.test(`${what} is sent as it is, in a copy for each of to`, async (t) => {
    const [ada, bob] = [someone(), someone()]
    const api = JSON.stringify({ to: [ada, bob], sub: { '-name-': ['Ada', 'Bob'] }, unique_args: { for: '-name-' } })
    const subject = /^Subject:/im.test(head) ? '' : 'Subject: -name-\r\n'
    const rest = `${subject}${head}\r\n\r\n${body}\r\n`
    const message = `X-SMTPAPI: ${api}\r\nFrom: ${desk}\r\nTo: x@harbor.example\r\n${rest}`
    const client = await openSession(t, service, sender)
    const { id } = await shown(service, await client.submit(desk, 'list@harbor.example', message))
    for (const to of [ada, bob]) t.ok((await arrived(to)).data.toString().endsWith(`\r\nTo: ${to}\r\n${rest}`))
    t.strictSame(await argsOf(id), { [ada]: { for: 'Ada' }, [bob]: { for: 'Bob' } })
  })
}

t.test('names in to are shown in To, quoted where they must be, in MIME and composed copies', async (t) => {
  for (const sub of [{}, { '-x-': ['y'] }]) {
    const [ada, zoe] = [someone(), someone()]
    await send({ to: [`"Lovelace, Ada" <${ada}>`, `Zoë <${zoe}>`], sub })
    t.strictSame((await read(ada)).to?.value, [{ address: ada, name: 'Lovelace, Ada' }])
    t.strictSame((await read(zoe)).to?.value, [{ address: zoe, name: 'Zoë' }])
  }
})

t.test('unique_args go with a MIME message too, and one without to', async (t) => {
  const to = someone()
  const { id } = await send({ unique_args: { order: '4711', 'a.b': 7 } }, { to })
  t.strictSame(await argsOf(id), { [to]: { order: '4711', 'a.b': '7' } })
})

t.test('bypass filters reach whom a list holds back', async (t) => {
  const [gone, left] = [someone(), someone()]
  await sql`insert into suppressions ${sql([
    { account_id: accountId, scope: 'address', value: gone, reason: 'hardbounce', since: new Date() },
    { account_id: accountId, scope: 'address', value: left, reason: 'unsubscribe', since: new Date() },
  ])}`
  await send({ to: [gone, left], filters: { bypass_list_management: filter({}) } })
  await arrived(gone)
  await arrived(left)
  const { deliveries } = await send({ to: [gone, left], filters: { bypass_bounce_management: filter({}) } })
  t.strictSame(
    deliveries.map(({ reason }) => reason),
    [null, 'unsubscribe'],
  )
})

t.test('filters that add content apply to MIME messages and to composed messages', async (t) => {
  proves(t, 'smtpapi.filters')
  const filters = {
    clicktrack: filter({ enable_text: 1 }),
    opentrack: filter({ replace: '%pixel%' }),
    subscriptiontrack: filter({ 'text/plain': 'Leave: <% %>', 'text/html': '<a><% Leave %></a>' }),
    footer: filter({ 'text/plain': 'Plain foot', 'text/html': '<i>HTML foot</i>' }),
    ganalytics: filter({ utm_source: 'ship' }),
    bypass_list_management: filter({}),
  }
  const content = {
    text: 'See https://quay.example/a',
    html: '<p>a%pixel%b <a href="https://quay.example/b">b</a></p>',
  }
  for (const sub of [{}, { '-x-': ['y'] }]) {
    const to = someone()
    const { settings } = await send({ to: [to], sub, filters }, content)
    t.match(settings, { clickTracking: true, openTracking: true, unsubscribe: true, footer: true })
    const copy = await read(to)
    t.match(copy.text, /Plain foot/)
    t.match(copy.html || '', /<i>HTML foot<\/i>/)
    t.match(copy.html || '', /<p>a<img[^>]*>b/)
    t.notMatch(copy.text, 'https://quay.example/a')
    t.match(copy.text, /Leave: /)
  }
})

t.test('clicktrack leaves the links of the text part alone, unless enable_text is given', async (t) => {
  const content = { text: 'See https://quay.example/a', html: '<a href="https://quay.example/b">b</a>' }
  for (const settings of [{}, { enable_text: 0 }]) {
    const to = someone()
    await send({ to: [to], filters: { clicktrack: filter(settings) } }, content)
    const copy = await read(to)
    t.match(copy.text, 'See https://quay.example/a')
    t.notMatch(copy.html || '', 'https://quay.example/b')
  }
})

t.test('a legacy template takes the message in', async (t) => {
  const { id } = await core.editableTemplates.create({ accountId, name: 'Frame', generation: 'legacy' })
  const version = { name: 'v1', subject: 'Ship: <%subject%>', html: '<div><%body%></div>', plain: '-- <%body%>' }
  await core.editableTemplates.addVersion({ accountId, id }, version)
  const to = someone()
  const filters = { templates: filter({ template_id: id }) }
  await send(
    { sub: { '-name-': ['Ada'] }, filters },
    { to, subject: 'For -name-', text: 'T -name-', html: '<b>-name-</b>' },
  )
  const copy = await read(to)
  t.equal(copy.subject, 'Ship: For Ada')
  t.match(copy.html || '', '<div><b>Ada</b></div>')
  t.match(copy.text, /^-- T Ada/)
})

t.test('send_each_at sets a time per recipient, and a batch cancels the waiting messages', async (t) => {
  proves(t, 'smtpapi.times')
  const batch = await core.batches.create(accountId)
  const [ada, bob, cleo] = [someone(), someone(), someone()]
  const at = Math.floor(Date.now() / 1000)
  const api = { to: [ada, bob, cleo], send_each_at: [at + 3600, at - 60, at + 7200], batch_id: batch }
  const { id, deliveries } = await send(api)
  t.strictSame(
    deliveries.map(({ state, nextAt }) => [state === 'scheduled', (nextAt?.getTime() ?? 0) / 1000]),
    [
      [true, at + 3600],
      [false, deliveries[1] ? (deliveries[1].nextAt?.getTime() ?? 0) / 1000 : 0],
      [true, at + 7200],
    ],
  )
  await arrived(bob)
  await core.batches.hold({ accountId, id: batch, by: OPERATOR }, 'cancel')
  const later = await core.messages.show(id)
  t.strictSame(
    later?.deliveries.map(({ reason }) => reason),
    ['cancelled', null, 'cancelled'],
  )
})

t.test('X-TEMPLATEID and X-SMTPAPI: the template’s content, for those that to names', async (t) => {
  const { id } = await core.templates.create({ accountId, name: 'berth', content: '<p>[%NAME%], -berth-</p>' })
  const [ada, bob] = [someone(), someone()]
  const api = JSON.stringify({ to: [ada, bob], sub: { '-berth-': ['4', '5'] } })
  const fields = `X-SMTPAPI: ${api}\r\nX-TEMPLATEID: ${id}\r\nX-ATTRIBUTES: {"NAME":"Zoe"}\r\n`
  const client = await openSession(t, service, sender)
  await shown(service, await client.submit(desk, 'list@harbor.example', rawMail(sender, fields)))
  t.match((await read(ada)).html || '', '<p>Zoe, 4</p>')
  t.match((await read(bob)).html || '', '<p>Zoe, 5</p>')
})
