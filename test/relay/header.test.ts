import t from 'tap'
import { processorTimeOf } from '../helpers/pace.ts'
import { makeService } from '../helpers/service.ts'
import { NOTHING, openSession, queueId, shown, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`

/** From fields that name one address, which is the account's. */
const ONE_SENDER = [
  `From: ${desk}`,
  `From: <${desk}>`,
  `FROM:Ship Desk<${desk}>`,
  `from : "Ship, Desk" <${desk}>`,
  `From: "Ship \\"Desk\\" <x@unknown.example>" <${desk}>`,
  `From: =?UTF-8?Q?=C3=9Cberfahrt?= <${desk}>`,
  `From: Überfahrt <${desk}>`,
  `From: Ship Desk\r\n <${desk}>`,
  `From: Ship Desk (the one at berth 4) <${desk}>`,
  `From: ${desk} (Ship Desk)`,
  `From: (a (nested) comment) ${desk}`,
  `From: ${desk.toUpperCase()}`,
]

for (const field of ONE_SENDER) {
  t.test(`${JSON.stringify(field)} names the sender`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${field}\r\nSubject: s\r\n\r\nhello\r\n`)
    t.equal((await shown(service, reply)).from.toLowerCase(), desk)
  })
}

t.test('a field in UTF-8 keeps its last letter', async (t) => {
  const client = await openSession(t, service, sender)
  const header = `From: ${desk}\r\nX-TAGS: voilà\r\nSubject:  Voilà \r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', `${header}\r\nhello\r\n`)
  t.match(await shown(service, reply), { subject: 'Voilà', tags: ['voilà'] })
})

/** Names that want quotes and have none, and the field as it is sent. */
const UNQUOTED: readonly [field: string, sent: string][] = [
  [`From: John Doe, Inc. <${desk}>`, `From: "John Doe, Inc." <${desk}>`],
  [`From: ${desk} <${desk}>`, `From: "${desk}" <${desk}>`],
  [`From: Team @ Example <${desk}>`, `From: "Team @ Example" <${desk}>`],
  [`From: Berth 4: Desk; [ship]\r\n <${desk}>`, `From: "Berth 4: Desk; [ship]" <${desk}>`],
  [`From: =?UTF-8?Q?=C3=9Cberfahrt?=, Inc. <${desk}>`, `From: =?utf-8?B?w5xiZXJmYWhydCwgSW5jLg==?= <${desk}>`],
]

for (const [field, sent] of UNQUOTED) {
  t.test(`${JSON.stringify(field)} is corrected, and the reply says so`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `X-A: b\r\n${field}\r\nSubject: s\r\n\r\nhello\r\n`)
    t.match(reply, /^250 2\.0\.0 Ok: queued as [0-9a-f]{32} \(quotes were added to the name in From\)$/)
    t.equal((await shown(service, reply)).from, desk)
    const [stored] = await service.sql<{ content: Buffer }[]>`
      select content from bodies where message_id = ${queueId(reply)}::uuid`
    const wanted = `\r\nX-A: b\r\n${sent}\r\nSubject: s\r\n\r\nhello\r\n`
    t.equal(stored?.content.toString().slice(-wanted.length), wanted)
  })
}

/** Addresses without a domain, as programs on a machine without a mail name write them, and the fields as they are sent. */
const INCOMPLETE: readonly [what: string, fields: string, sent: string, names: string][] = [
  ['cron', 'From: root (Cron Daemon)\r\nTo: root', 'From: root@SHIP (Cron Daemon)\r\nTo: root@SHIP', 'From, To'],
  ['a name and a local part', 'From: Cron Daemon <root>', 'From: Cron Daemon <root@SHIP>', 'From'],
  ['a quoted name', 'From: "Daemon, Cron" < root >', 'From: "Daemon, Cron" < root@SHIP >', 'From'],
  ['a local part alone', 'from:root', 'from:root@SHIP', 'from'],
  ['a name and nothing else', 'From: MAILER-DAEMON <>', 'From: MAILER-DAEMON <MAILER-DAEMON@SHIP>', 'From'],
  [
    'some of a list',
    'From: DESK\r\nCc: root, Ann <a@harbor.example>,\r\n\tops.team (on call), <b>\r\nReply-To: root',
    'From: DESK\r\nCc: root@SHIP, Ann <a@harbor.example>,\r\n\tops.team@SHIP (on call), <b@SHIP>\r\nReply-To: root@SHIP',
    'Reply-To, Cc',
  ],
  [
    'in brackets, whatever it looks like',
    'From: Cron <Root>\r\nTo: < Ops >',
    'From: Cron <Root@SHIP>\r\nTo: < Ops@SHIP >',
    'From, To',
  ],
  [
    'but no name for people',
    'From: DESK\r\nTo: Demo, root\r\nCc: Crew',
    'From: DESK\r\nTo: Demo, root@SHIP\r\nCc: Crew',
    'To',
  ],
  ['members of a group', 'From: DESK\r\nTo: crew: ann, bo;', 'From: DESK\r\nTo: crew: ann@SHIP, bo@SHIP;', 'To'],
]

for (const [what, fields, sent, names] of INCOMPLETE) {
  t.test(`addresses without a domain get that of MAIL FROM: ${what}`, async (t) => {
    const written = (text: string) => text.replaceAll('SHIP', sender.domain).replaceAll('DESK', desk)
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${written(fields)}\r\nSubject: s\r\n\r\nhello\r\n`)
    t.match(
      reply,
      `250 2.0.0 Ok: queued as ${queueId(reply).replaceAll('-', '')} (the domain ${sender.domain} was added to addresses in ${names})`,
    )
    const [stored] = await service.sql<{ content: Buffer }[]>`
      select content from bodies where message_id = ${queueId(reply)}::uuid`
    const wanted = `\r\n${written(sent)}\r\nSubject: s\r\n\r\nhello\r\n`
    t.equal(stored?.content.toString().slice(-wanted.length), wanted)
  })
}

t.test(
  'a bounce without a domain in From gets that of its recipient, where the account may send from it',
  async (t) => {
    const mail = 'From: MAILER-DAEMON <>\r\nSubject: s\r\n\r\nhello\r\n'
    const client = await openSession(t, service, sender)
    t.match(await client.submit('', `lena@${sender.domain}`, mail), /^250 .*domain \S+ was added to addresses in From/)
    t.match(await client.submit('', 'lena@harbor.example', mail), /^550 5\.6\.0 .*exactly one address/)
  },
)

t.test('half a name before a comma gets no domain, and what else lacks one does', async (t) => {
  const client = await openSession(t, service, sender)
  const fields = [
    'To: Doe, John <lena@harbor.example>, root',
    'Cc: Sales, Team <sales@harbor.example>',
    'Reply-To: Crew, Night shift <crew@harbor.example>',
  ]
  const reply = await client.submit(
    desk,
    'lena@harbor.example',
    `From: ${desk}\r\n${fields.join('\r\n')}\r\n\r\nhello\r\n`,
  )
  t.match(reply, /was added to addresses in To\)$/)
  const [stored] = await service.sql<{ content: Buffer }[]>`
    select content from bodies where message_id = ${queueId(reply)}::uuid`
  for (const field of fields)
    t.ok(stored?.content.toString().includes(field.replace(/root$/, `root@${sender.domain}`)), field)
})

t.test('a list of more than a hundred addresses without a domain stays as it is', async (t) => {
  const client = await openSession(t, service, sender)
  const list = Array.from({ length: 101 }, (_, at) => `crew${at}`).join(',\r\n ')
  const message = `From: ${desk}\r\nTo: ${list}\r\nCc: root\r\n\r\nhello\r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', message)
  t.match(reply, /was added to addresses in Cc\)$/)
  const [stored] = await service.sql<{ content: Buffer }[]>`
    select content from bodies where message_id = ${queueId(reply)}::uuid`
  t.ok(stored?.content.toString().includes(`To: ${list}\r\nCc: root@${sender.domain}\r\n`))
})

t.test('a From of two addresses is refused, also if one of them has no domain', async (t) => {
  const client = await openSession(t, service, sender)
  for (const from of [`root, ${desk}`, 'root, root', `<root> <${desk}>`])
    t.match(
      await client.submit(desk, 'lena@harbor.example', `From: ${from}\r\n\r\nx\r\n`),
      /^550 5\.6\.0 .*exactly one address/,
      from,
    )
})

t.test('a From that is a name only is refused', async (t) => {
  const client = await openSession(t, service, sender)
  for (const from of ['Demo', 'Demo <>', 'Demo (Ship)', 'Ship Desk'])
    t.match(
      await client.submit(desk, 'lena@harbor.example', `From: ${from}\r\n\r\nx\r\n`),
      /^550 5\.6\.0 .*(?:exactly one address|the domain is absent)/,
      from,
    )
})

t.test('a From address that is not valid is refused, with the reason', async (t) => {
  const client = await openSession(t, service, sender)
  for (const [from, why] of [
    ['root@10.0.0.1', 'its domain is an IP address'],
    ['Root <root@[10.0.0.1]>', 'its domain is an IP address'],
    [`root@${sender.domain}.`, 'its domain ends with a dot'],
    ['root@a..example', 'its domain is not a valid name'],
    [`a..b@${sender.domain}`, 'the part before the @ is not valid'],
    [`${'x'.repeat(65)}@${sender.domain}`, 'the part before the @ is not valid'],
  ])
    t.match(
      await client.submit(desk, 'lena@harbor.example', `From: ${from}\r\n\r\nx\r\n`),
      `550 5.6.0 Malformed message: the From field has an address that is not valid: ${why}`,
      `${from}`,
    )
})

t.test('a From field whose name may be another address is refused', async (t) => {
  for (const field of [`From: boss@bank.example, Desk <${desk}>`, `From: Desk <boss@bank.example>, Inc. <${desk}>`]) {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `${field}\r\n\r\nhello\r\n`)
    t.match(reply, /^55\d 5\.6\.0 .*From field must contain exactly one address/, field)
  }
})

const FROM = `From: ${desk}\r\n`
const bombs = 60_000

/** Text of so many copies, in lines as long as they may be. */
function lines(text: string): string {
  return `${text.repeat(Math.floor(900 / text.length))}\r\n `.repeat(Math.ceil((bombs * text.length) / 900))
}

/** Headers that are refused, each with what the reply says of them. */
const REFUSED: readonly [what: string, header: string, says: RegExp][] = [
  ['no From', 'Subject: s\r\n', /5\.6\.0 .*\[From\]/],
  ['no header', '', /5\.6\.0 .*\[From\]/],
  ['two From fields', `${FROM}From: other@a.example\r\n`, /5\.6\.0 .*field From occurs more than once/],
  [
    'two From fields of which one is hidden',
    `${FROM}no field\r\nFrom: x@unknown.example\r\n`,
    /5\.6\.0 .*line 2 of the header/,
  ],
  ['a blank From', 'From:\r\n', /5\.6\.0 .*one address/],
  ['a From of two addresses', `From: ${desk}, x@unknown.example\r\n`, /5\.6\.0 .*one address/],
  ['a From of two mailboxes', `From: <${desk}> <x@unknown.example>\r\n`, /5\.6\.0 .*one address/],
  ['a From of a group', `From: desk: ${desk};\r\n`, /5\.6\.0 .*one address/],
  ['a From without address', 'From: Ship Desk\r\n', /5\.6\.0 .*one address/],
  ['a From with a source route', `From: <@unknown.example:${desk}>\r\n`, /5\.6\.0 .*before the @ is not valid/],
  ['a From whose address is an encoded word', 'From: =?UTF-8?Q?a=40ship.example?=\r\n', /5\.6\.0 .*domain is absent/],
  ['a From whose name is not ours, address first', `From: ${desk} <x@unknown.example>\r\n`, /5\.(7\.1|6\.0) /],
  ['a From of blanks without end', `From: a${' '.repeat(bombs)}b\r\n`, /5\.6\.0 .*one address/],
  ['a From of nested comments', `From: ${lines('(')}x\r\n`, /5\.6\.0 .*one address/],
  ['a From of quotes', `From: ${lines('"\\"')}x\r\n`, /5\.6\.0 .*one address/],
  ['a From of a hundred thousand words', `From: ${'a '.repeat(bombs)}<${desk}\r\n`, /5\.6\.0 .*one address/],
  ['a From of commas', `From: ${lines(',')}${desk}\r\n`, /5\.6\.0 .*one address/],
  ['a fold as its first line', ` folded\r\n${FROM}`, /5\.6\.0 .*begins with a continuation line/],
  ['more than 512 KiB', `${FROM}${`X-A: ${'x'.repeat(994)}\r\n`.repeat(525)}`, /5\.6\.0 .*524288 bytes/],
  ['more than 512 KiB in one field', `${FROM}X-A: ${'x'.repeat(600_000)}\r\n`, /5\.6\.0 .*524288 bytes/],
]

for (const [what, header, says] of REFUSED) {
  t.test(`a message with ${what} is refused with 550, soon, and nothing is stored`, async (t) => {
    const own = sender
    const before = await stored(service, own)
    const client = await openSession(t, service, own)
    let reply = ''
    const took = await processorTimeOf(async () => {
      reply = await client.submit(desk, 'lena@harbor.example', `${header}\r\nhello\r\n`)
    })
    t.ok(took < 3000, `${took} ms`)
    t.match(reply, /^550 /)
    t.match(reply, says)
    t.strictSame(await stored(service, own), before)
  })
}

t.test('a message without empty line and above 512 KiB is refused, not cut', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  const from = `desk@${own.domain}`
  const reply = await client.submit(from, 'lena@harbor.example', `From: ${from}\r\n${'no field\r\n'.repeat(60_000)}`)
  t.match(reply, /^550 5\.6\.0 .*524288 bytes/)
  t.strictSame(await stored(service, own), NOTHING)
})

/** Subject fields, and what lists and events show of them. */
const SUBJECTS: readonly [field: string, subject: string][] = [
  ['Subject: Berth 4', 'Berth 4'],
  ['', ''],
  ['Subject:', ''],
  ['Subject: Überfahrt', 'Überfahrt'],
  ['Subject: =?UTF-8?Q?=C3=9Cber?=\r\n =?UTF-8?Q?fahrt?=', 'Überfahrt'],
  ['Subject: =?ISO-8859-1?Q?=DCberfahrt?=', 'Überfahrt'],
  ['Subject: =?UTF-8?Q?a=0D=0ABcc:_b?=', 'a  Bcc: b'],
  [`Subject: ${'s'.repeat(2000)}`, 's'.repeat(512)],
  [`Subject: ${'⚓'.repeat(600)}`, '⚓'.repeat(512)],
]

for (const [field, subject] of SUBJECTS) {
  t.test(`${JSON.stringify(field).slice(0, 60)} is shown as ${JSON.stringify(subject).slice(0, 30)}`, async (t) => {
    const client = await openSession(t, service, sender)
    const lines = field === '' ? FROM : `${FROM}${field}\r\n`
    const reply = await client.submit(desk, 'lena@harbor.example', `${lines}\r\nhello\r\n`)
    t.equal((await shown(service, reply)).subject, subject)
  })
}
