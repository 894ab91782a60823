import { createHash } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { until } from '../../helpers/until.ts'
import { type Copy, headerLines } from '../arrivals.ts'
import type { CallAnswer } from '../call.ts'
import { refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { toLena } from './mail.ts'
import { makeMailArrivals, messageIdOf } from './mail-arrivals.ts'

const { service, sender, send, copies, story } = await makeMailArrivals(t)
const fieldOf = (raw: string, name: string): string | undefined =>
  headerLines(raw).find((line) => line.toLowerCase().startsWith(`${name}: `))
const two = (one: object, other: object) => ({
  personalizations: [one, other].map((own, at) => ({ to: [{ email: `r${at}@harbor.example` }], ...own })),
})
const now = () => Math.floor(Date.now() / 1000)

/** The types of all parts, in the order they stand, with their depth. */
function typesIn(raw: string): string[] {
  const open: string[] = []
  const types: string[] = []
  for (const line of raw.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const type = /^Content-Type: ([\w/.+-]+)/.exec(line)?.[1]
    if (type) types.push(`${' '.repeat(open.length)}${type}`)
    const boundary = /^Content-Type: .*boundary="([^"]+)"/.exec(line)?.[1]
    if (boundary) open.push(boundary)
    if (line === `--${open.at(-1)}--`) open.pop()
  }
  return types
}

t.test('recipients keep their names in To and Cc, quoted where necessary', async (t) => {
  proves(t, 'names')
  const answer = await send({
    personalizations: [
      {
        to: [
          { email: 'ada@Harbor.example', name: 'Lovelace, Ada; "Countess" <x@y.example>' },
          { email: 'bo@harbor.example', name: 'Bo Ek' },
        ],
        cc: [{ email: 'mäx@harbor.example', name: 'Mäx Müller' }, { email: 'ops@harbor.example' }],
        bcc: [{ email: 'audit@quay.example', name: 'Nobody sees, this' }],
      },
      { to: [{ email: 'solo@harbor.example', name: `${'long '.repeat(100)}, name` }] },
    ],
  })
  const all = await copies(answer, 6)
  for (const { raw, mail } of all.filter(({ recipient }) => recipient !== 'solo@harbor.example')) {
    t.strictSame(
      mail.to?.value.map(({ address, name }) => [address, name]),
      [
        ['ada@harbor.example', 'Lovelace, Ada; "Countess" <x@y.example>'],
        ['bo@harbor.example', 'Bo Ek'],
      ],
    )
    t.equal(mail.cc?.value[0]?.name, 'Mäx Müller')
    t.equal(mail.cc?.value[1]?.name, '')
    t.notMatch(raw, /Nobody|audit@/)
  }
  const solo = all.find(({ recipient }) => recipient === 'solo@harbor.example') as Copy
  t.equal(solo.mail.to?.value[0]?.name, `${'long '.repeat(100)}, name`)
  t.match(fieldOf(all[0]?.raw ?? '', 'to'), /"Lovelace, Ada; \\"Countess\\" <x@y\.example>" <ada@/)
})

t.test('one enclosing pair of quotation marks is removed from every name', async (t) => {
  proves(t, 'names-quoted')
  const named = (name: string, at = 'r0') => ({ email: `${at}@harbor.example`, name })
  const answer = await send({
    personalizations: [
      {
        to: [named('"Lovelace, Ada"'), named(' "Ek; \\"Bo\\" \\\\ Ltd" ', 'r1'), named('"Ek, "Bo""', 'r2')],
        cc: [named('"Ada" and "Bo"', 'r3'), named('""', 'r4'), named('"', 'r5'), named('""Ada""', 'r6')],
      },
      { to: [named('Solo', 'r7')], from: { email: `night@${sender.domain}`, name: '"Desk, Night"' } },
    ],
    from: { email: `desk@${sender.domain}`, name: '"Desk, Ship"' },
    reply_to: { email: 'help@quay.example', name: '"Help, Desk"' },
  })
  const all = await copies(answer, 8)
  const { mail } = all.find(({ recipient }) => recipient === 'r0@harbor.example') as Copy
  const names = (field: 'to' | 'cc' | 'from' | 'replyTo', { [field]: list } = mail) =>
    [list].flat().flatMap((one) => one?.value.map(({ name }) => name) ?? [])
  t.strictSame(names('to'), ['Lovelace, Ada', 'Ek; "Bo" \\ Ltd', 'Ek, "Bo"'])
  t.strictSame(names('cc'), ['"Ada" and "Bo"', '', '"', '"Ada"'])
  t.strictSame([names('from'), names('replyTo')], [['Desk, Ship'], ['Help, Desk']])
  t.strictSame(names('from', all.find(({ recipient }) => recipient === 'r7@harbor.example')?.mail), ['Desk, Night'])
  const [one] = await copies(await send({ reply_to_list: [{ email: 'a@quay.example', name: '"A, B"' }] }))
  t.strictSame(names('replyTo', one?.mail), ['A, B'])
})

t.test('names are bounded, and cannot end their header', async (t) => {
  const named = (name: string) => send(toLena({ to: [{ email: 'lena@harbor.example', name }] }))
  refusedV3(t, await named('x'.repeat(4097)), [400, /at most 4096 characters/, 'personalizations.0.to'])
  refusedV3(t, await named('a\r\nBcc: spy@quay.example'), [400, /CR|line|break/i, 'personalizations.0.to.0.name'])
  refusedV3(t, await named('\ud800'), [400, /Unicode/, 'personalizations.0.to'])
})

t.test('a personalization can have its own sender and subject', async (t) => {
  proves(t, 'personalization-from', 'personalization-subject')
  const answer = await send({
    ...two({ subject: 'Hers' }, { from: { email: `night@${sender.domain}`, name: 'Night, Desk' } }),
    from: { email: `desk@${sender.domain}`, name: 'Desk' },
  })
  const [first, second] = (await copies(answer, 2)) as [Copy, Copy]
  t.match(first.mail, { subject: 'Hers', from: { value: [{ address: `desk@${sender.domain}`, name: 'Desk' }] } })
  t.match(second.mail, {
    subject: 'Berth 4',
    from: { value: [{ address: `night@${sender.domain}`, name: 'Night, Desk' }] },
  })
  const none = await send({ ...two({ subject: 'One' }, { subject: 'Two' }), subject: undefined })
  t.strictSame(
    (await copies(none, 2)).map(({ mail }) => mail.subject),
    ['One', 'Two'],
  )
  t.equal((await story(none)).subject, 'One', 'lists show the first one’s')
  const other = await send(two({}, { from: { email: 'x@elsewhere.example' } }))
  refusedV3(t, other, [400, /domain/, 'personalizations.1.from'])
})

t.test('a personalization can have its own send_at, which does not delay the others', async (t) => {
  proves(t, 'personalization-send_at')
  const at = now() + 3600
  const answer = await send(two({ send_at: at }, {}))
  t.equal((await copies(answer)).length, 1, 'the other goes now')
  const told = await story(answer)
  t.match(told.deliveries[0], { state: 'scheduled', nextAt: new Date(at * 1000) })
  t.equal(told.deliveries[0]?.expiresAt?.getTime(), (at + 72 * 3600) * 1000)
  t.equal(told.scheduledAt, null)
  const later = await story(await send({ ...two({ send_at: at + 60 }, {}), send_at: at }))
  t.strictSame(
    later.deliveries.map(({ nextAt }) => nextAt?.getTime()),
    [(at + 60) * 1000, at * 1000],
  )
  t.equal(later.scheduledAt?.getTime(), at * 1000, 'the first of them')
  refusedV3(t, await send(two({}, { send_at: now() + 80 * 3600 })), [400, /72 hours/, 'personalizations.1.send_at'])
})

t.test('reply_to keeps its name, and reply_to_list becomes one Reply-To with several mailboxes', async (t) => {
  proves(t, 'reply_to_list')
  const list = [{ email: 'a@quay.example', name: 'A, first' }, { email: 'b@quay.example' }]
  const [copy] = (await copies(await send({ reply_to_list: list }))) as [Copy]
  t.strictSame(
    copy.mail.replyTo?.value.map(({ address, name }) => [address, name]),
    [
      ['a@quay.example', 'A, first'],
      ['b@quay.example', ''],
    ],
  )
  t.equal(copy.raw.match(/^reply-to:/gim)?.length, 1)
  const [one] = await copies(await send({ reply_to: { email: 'help@quay.example', name: 'Hilfe für alle' } }))
  t.match(one?.mail.replyTo?.value, [{ address: 'help@quay.example', name: 'Hilfe für alle' }])
  for (const none of [{ reply_to: {} }, { reply_to: { email: null, name: null }, reply_to_list: [] }]) {
    const [copy] = await copies(await send(none))
    t.notMatch(copy?.raw, /^reply-to:/im, 'an empty object is as good as none')
  }
})

const INVITATION = 'BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Möwe\nEND:VEVENT\nEND:VCALENDAR'

t.test('other content types follow HTML as further alternatives, in the order of the call', async (t) => {
  proves(t, 'content-others')
  const answer = await send({
    content: [
      { type: 'text/plain', value: 'Come' },
      { type: 'text/html', value: '<p>Come</p>' },
      { type: 'text/calendar', value: INVITATION },
      { type: 'application/json', value: '{"a":1}' },
    ],
  })
  const [copy] = (await copies(answer)) as [Copy]
  t.strictSame(typesIn(copy.raw), [
    'multipart/alternative',
    ' text/plain',
    ' text/html',
    ' text/calendar',
    ' application/json',
  ])
  t.match(copy.raw, /\r\nContent-Type: text\/calendar; charset=utf-8; method=REQUEST\r\n/, 'RFC 6047 2.4')
  t.match(copy.mail, { html: '<p>Come</p>', text: /^Come/ })
  const calendar = copy.mail.attachments.find(({ contentType }) => contentType === 'text/calendar')
  t.equal(calendar?.content.toString().trimEnd().replaceAll('\r\n', '\n'), INVITATION)
  const [only] = (await copies(await send({ content: [{ type: 'text/calendar', value: INVITATION }] }))) as [Copy]
  t.strictSame(typesIn(only.raw), ['text/calendar'], 'an invitation alone is content too')
  for (const type of ['multipart/mixed', 'message/rfc822', 'nothing', 'text/ä', 'text/']) {
    const refused = await send({ content: [{ type, value: 'x' }] })
    refusedV3(t, refused, [400, /must be the media type of a text/, 'content.0.type'], type)
  }
})

const octets = Buffer.from([...Array(256).keys()])
const file = (extra: object) => ({ content: octets.toString('base64'), filename: 'logo.bin', ...extra })

t.test('an attachment has the given type, and inline files of the HTML are part of the HTML', async (t) => {
  proves(t, 'attachments-inline')
  const answer = await send({
    content: [
      { type: 'text/plain', value: 'Thanks' },
      { type: 'text/html', value: '<img src="cid:logo@ship"><img src=cid:a%20b>' },
      { type: 'text/calendar', value: INVITATION },
    ],
    attachments: [
      file({ filename: 'terms.pdf', type: 'application/x-terms' }),
      file({ type: 'image/png', disposition: 'inline', content_id: 'logo@ship' }),
      file({ type: 'image/gif', disposition: 'inline', content_id: '<a b>' }),
      file({ type: 'image/jpeg', disposition: 'inline', content_id: 'unseen' }),
      file({ filename: 'shown.txt', content_id: 'kept' }),
      file({ filename: 'odd.txt', type: 'pdf' }),
      file({ filename: 'mixed.txt', type: 'multipart/mixed' }),
    ],
  })
  const [copy] = (await copies(answer)) as [Copy]
  t.strictSame(typesIn(copy.raw), [
    ...['multipart/mixed', ' multipart/alternative', '  text/plain', '  multipart/related', '   text/html'],
    ...['   image/png', '   image/gif', '  text/calendar', ' application/x-terms', ' image/jpeg'],
    ...[' text/plain', ' text/plain', ' text/plain'],
  ])
  t.match(copy.raw, /multipart\/related;\r\n type="text\/html";\r\n boundary="/, 'RFC 2387 3.1')
  t.strictSame(
    copy.mail.attachments
      .filter(({ contentType }) => contentType !== 'text/calendar')
      .map(({ filename, contentType, contentDisposition, cid, related }) =>
        [filename, contentType, contentDisposition, cid, Boolean(related)].join(),
      ),
    [
      'logo.bin,image/png,inline,logo@ship,true',
      'logo.bin,image/gif,inline,a b,true',
      'terms.pdf,application/x-terms,attachment,,false',
      'logo.bin,image/jpeg,inline,unseen,false',
      'shown.txt,text/plain,attachment,kept,false',
      'odd.txt,text/plain,attachment,,false',
      'mixed.txt,text/plain,attachment,,false',
    ],
    'what no HTML shows stays among the attachments, where it is seen',
  )
  for (const { contentType, content } of copy.mail.attachments) {
    if (contentType !== 'text/calendar') t.strictSame(content, octets)
  }
})

t.test('types keep their parameters, except those that the service sets', async (t) => {
  proves(t, 'type-parameters')
  const answer = await send({
    content: [
      { type: 'text/plain; format=flowed', value: 'Come' },
      { type: 'Text/HTML; x=y;', value: '<p>Come</p>' },
      { type: 'text/calendar; Method=CANCEL; component=VEVENT', value: INVITATION },
      { type: 'application/x-quay ; a="b;c \\"d\\""; bad; name=ä; boundary=x', value: 'x' },
    ],
    attachments: [
      file({ filename: 'invite.ics', type: 'text/calendar; method=REQUEST' }),
      file({ filename: 'long.ics', type: `text/calendar; x="${'y '.repeat(100)}"; method=REQUEST; name=other.ics` }),
      file({ filename: 'huge.ics', type: `text/calendar; x=${'y'.repeat(600)}` }),
    ],
  })
  const [copy] = (await copies(answer)) as [Copy]
  t.match(copy.mail, { html: '<p>Come</p>', text: /^Come/ })
  const types = copy.raw.replace(/\r\n[ \t]+/g, ' ').match(/^Content-Type: (?!multipart).*$/gm)
  t.strictSame(
    types?.map((line) => line.trim().slice('Content-Type: '.length)),
    [
      'text/plain; charset=utf-8',
      'text/html; charset=utf-8',
      'text/calendar; charset=utf-8; method=CANCEL; component=VEVENT',
      'application/x-quay; charset=utf-8; a="b;c \\"d\\""',
      'text/calendar; method=REQUEST; name="invite.ics"',
      `text/calendar; x="${'y '.repeat(100)}"; method=REQUEST; name="long.ics"`,
      'text/calendar; name="huge.ics"',
    ],
  )
  t.notMatch(copy.raw, /.{999}/)
  const too = await send({ content: [{ type: `text/calendar; x=${'y'.repeat(600)}`, value: 'x' }] })
  refusedV3(
    t,
    too,
    [400, /must be the media type of a text/, 'content.0.type'],
    'what can not be kept is not dropped silently',
  )
})

t.test('an inline file without HTML is an attachment that says so', async (t) => {
  const [copy] = (await copies(
    await send({ attachments: [file({ disposition: 'inline', content_id: 'logo', type: 'image/png' })] }),
  )) as [Copy]
  t.strictSame(typesIn(copy.raw), ['multipart/mixed', ' text/plain', ' image/png'])
  t.match(copy.raw, /\r\nContent-Disposition: inline;\r\n filename="logo\.bin"\r\nContent-ID: <logo>\r\n\r\n/)
  for (const contentId of ['ü', 'a>b', 'x'.repeat(256), '<>']) {
    const refused = await send({ attachments: [file({ disposition: 'inline', content_id: contentId })] })
    refusedV3(t, refused, [400, /printable ASCII/, 'attachments'], contentId.slice(0, 5))
  }
})

t.test('what v2 would put in for its merge tags is plain text here', async (t) => {
  const text = '[%NAME%] [%UNSUBSCRIBE_URL%]'
  const answer = await send({
    subject: text,
    from: { email: `desk@${sender.domain}`, name: text },
    headers: { 'X-Text': text },
    content: ['plain', 'x-amp-html', 'html'].map((kind) => ({ type: `text/${kind}`, value: `${text}.` })),
    tracking_settings: { subscription_tracking: { enable: true } },
  })
  const [copy] = (await copies(answer)) as [Copy]
  t.equal(copy.mail.subject, text)
  t.equal(copy.mail.from?.value[0]?.name, text)
  t.equal(fieldOf(copy.raw, 'x-text'), `X-Text: ${text}`)
  t.equal(copy.raw.split(`${text}.`).length, 4)
  t.match(
    copy.mail.html,
    /^\[%NAME%\] \[%UNSUBSCRIBE_URL%\]\.<p [^>]+><a href="[^"]+\/t\/u\/[^"]+">Unsubscribe<\/a><\/p>$/,
  )
})

/** All that a mail can have, at once. */
const EVERYTHING = {
  personalizations: [
    { to: [{ email: 'ada@harbor.example', name: 'L, Ada' }], cc: [{ email: 'bo@harbor.example' }], subject: 'Größe' },
    { to: [{ email: 'cy@harbor.example' }], from: { email: `night@${sender.domain}`, name: 'Nächte' } },
  ],
  reply_to_list: [{ email: 'a@quay.example', name: 'Ä' }, { email: 'b@quay.example' }],
  content: [
    { type: 'text/plain', value: 'Thanks https://quay.example/a' },
    { type: 'text/html', value: '<img src="cid:logo">%pixel% <a href="https://quay.example/b">b</a> %leave%' },
    { type: 'text/calendar', value: INVITATION },
  ],
  attachments: [
    file({ type: 'image/png', disposition: 'inline', content_id: 'logo' }),
    file({ filename: 'plän.pdf', type: 'application/pdf' }),
  ],
  mail_settings: { footer: { enable: true, text: 'Bye', html: '<i>Bye</i>' } },
  tracking_settings: {
    click_tracking: { enable: true, enable_text: true },
    open_tracking: { enable: true, substitution_tag: '%pixel%' },
    subscription_tracking: { enable: true, substitution_tag: '%leave%', text: 'Leave <% %>' },
    ganalytics: { enable: true, utm_source: 'ship' },
  },
}

t.test('whatever a mail is made of, its signature verifies and every attempt gives the same octets', async (t) => {
  const answer = await send(EVERYTHING)
  const all = await copies(answer, 3)
  const { dns } = await service.core.domains.show(sender.domain)
  for (const { raw } of all) {
    const { results } = await dkimVerify(Buffer.from(raw), {
      resolver: async (name, type) => {
        const record = dns.find(({ host }) => host === name)
        if (type !== 'TXT' || !record) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
        return [[record.value]]
      },
    })
    t.strictSame(
      results.map(({ status }) => status.result),
      ['pass'],
    )
  }
  for (let attempt = 0; attempt < 2; attempt++) t.strictSame(await renderedDigests(answer), all.map(digestOf).sort())
})

const digest = (octets: Buffer | string) => createHash('sha256').update(octets).digest('hex')
/** Below what delivery writes above it. */
const digestOf = ({ raw }: Copy) => digest(raw.slice(raw.indexOf('\r\nFrom: ') + 2))

/** As a worker would make them that has just started. */
async function renderedDigests(answer: CallAnswer): Promise<string[]> {
  const id = messageIdOf(answer).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const finished = () => service.sql<{ recipient: string; recipientNo: number; personal: unknown }[]>`
    select recipient, recipient_no as "recipientNo", personal from finished_deliveries where message_id = ${id}`
  const deliveries = await until('all are delivered', async () => {
    const rows = await finished()
    return rows.length === 3 && rows
  })
  const message = [...(await service.core.messages.load([id])).values()][0]
  if (!message) throw new Error('the message is gone')
  const rendered = deliveries.map(async (delivery) =>
    digest((await service.core.messages.render(message, delivery)).octets),
  )
  return (await Promise.all(rendered)).sort()
}
