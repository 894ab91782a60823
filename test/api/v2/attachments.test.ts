import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { type Copy, makeArrivals } from '../arrivals.ts'
import { call, errorText, refused } from '../call.ts'

const { service, base, sender, send, copies, deliver } = await makeArrivals(t)
const file = (fileName: string, content: Buffer) => ({ fileName, fileContent: content.toString('base64') })
const digest = (octets: Buffer) => createHash('sha256').update(octets).digest('hex')
const files = ({ mail }: Copy) =>
  mail.attachments.map(({ filename, content }) => [filename, content.toString('latin1')])
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count

const EVERY_OCTET = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet))
const CONTENTS: readonly (readonly [what: string, content: Buffer])[] = [
  ['every octet there is', EVERY_OCTET],
  ['one octet', Buffer.from([0])],
  ['lines that end in every way', Buffer.from('a\r\nb\nc\rd\r\n.\r\n..\r\n\r\n')],
  ['what looks like the end of the message', Buffer.from('\r\n.\r\nQUIT\r\n--=_m.1\r\n')],
  ['one octet less than a line of base64', randomBytes(56)],
  ['just a line of base64', randomBytes(57)],
  ['one octet more', randomBytes(58)],
  ['300 kB', randomBytes(300_000)],
  ['3 MB', randomBytes(3_000_000)],
]
for (const [what, content] of CONTENTS) {
  t.test(`a file of ${what} arrives octet for octet`, async (t) => {
    const { mail, raw } = await deliver({ attachments: [file('a.bin', content)] })
    t.equal(mail.attachments.length, 1)
    t.equal(digest(mail.attachments[0]?.content ?? Buffer.alloc(0)), digest(content))
    // RFC 2045 6.8: at most 76 characters a line.
    const encoded = raw.slice(raw.lastIndexOf('\r\n\r\n')).split('\r\n')
    t.ok(encoded.every((line) => line.length <= 76))
  })
}

const PLAIN = EVERY_OCTET.toString('base64')
const SPELLINGS: readonly (readonly [what: string, fileContent: string])[] = [
  ['without padding', PLAIN.replace(/=+$/, '')],
  ['in lines of 76 characters', PLAIN.replace(/.{76}/g, '$&\r\n')],
  ['with blanks and tabs', ` ${PLAIN.replace(/.{7}/g, '$& \t')}\n`],
  ['in the URL alphabet', EVERY_OCTET.toString('base64url')],
  ['in the URL alphabet with padding', PLAIN.replaceAll('+', '-').replaceAll('/', '_')],
]
t.test('base64 is read in both alphabets, with or without white space and padding', async (t) => {
  const attachments = SPELLINGS.map(([fileName, fileContent]) => ({ fileName, fileContent }))
  const arrived = (await deliver({ attachments })).mail.attachments
  for (const [at, [what]] of SPELLINGS.entries()) t.strictSame(arrived[at]?.content, EVERY_OCTET, what)
})

const NAMES = [
  'Grüße.txt',
  '船 の 表.pdf',
  '🚢.png',
  'e\u0301 combining.txt',
  'שלום.doc',
  'a "quoted" name; with=marks, and \'more\'.txt',
  '100% [a] {b} <c> (d) #e &f.txt',
  "utf-8''%41.txt",
  'no extension',
  '.hidden',
  ' blanks around .txt ',
  `${'long '.repeat(49)}.txt`,
  'ü'.repeat(255),
]
for (const name of NAMES) {
  t.test(`a file name arrives as it was written: ${name.slice(0, 40)}`, async (t) => {
    const copy = await deliver({ attachments: [file(name, Buffer.from('x'))] })
    t.equal(copy.mail.attachments[0]?.filename, name)
    t.match(copy.raw, /^[\r\n\t\x20-\x7e]*$/, 'only ASCII on the wire')
  })
}

t.test('files for all come before those of one, two of one name stay two, and Cc and Bcc get them too', async (t) => {
  const answer = await send({
    personalizations: [
      {
        recipient: 'a@harbor.example',
        recipient_cc: 'b@harbor.example',
        recipient_bcc: 'c@harbor.example',
        attachments: [file('a.txt', Buffer.from('own 1')), file('a.txt', Buffer.from('own 2'))],
      },
      { recipient: 'd@harbor.example' },
    ],
    attachments: [file('a.txt', Buffer.from('all 1')), file('b.txt', Buffer.from('all 2'))],
  })
  const all = await copies(answer, 4)
  const shared = [
    ['a.txt', 'all 1'],
    ['b.txt', 'all 2'],
  ]
  const own = [
    ['a.txt', 'own 1'],
    ['a.txt', 'own 2'],
  ]
  for (const copy of all.slice(0, 3)) t.strictSame(files(copy), [...shared, ...own], copy.recipient)
  t.strictSame(files(all[3] as Copy), shared)
})

t.test('stored files come behind those of the call, whatever else is asked', async (t) => {
  const insert = async (name: string) => {
    const content = Buffer.concat([Buffer.from(name), EVERY_OCTET])
    const [row] = await service.sql`
      insert into attachments (account_id, file_name, content) values (${sender.accountId}, ${name}, ${content}) returning id`
    return { id: row?.id as number, content: content.toString('latin1') }
  }
  const [map, plan] = [await insert('map ü.bin'), await insert('plan.bin')]
  const copy = await deliver({
    attachments: [file('own.txt', Buffer.from('own'))],
    attachmentId: map.id,
    settings: { attachmentid: `${plan.id},${map.id}` },
  })
  t.strictSame(files(copy)[0], ['own.txt', 'own'])
  t.strictSame(files(copy).slice(1).sort(), [
    ['map ü.bin', map.content],
    ['plan.bin', plan.content],
  ])
  const body = v2Body(sender, { attachmentId: [map.id, 999_999] })
  refused(t, await call(base, { headers: { api_key: sender.apiKey }, body }), [400, 119, 'Invalid attachmentId'])
})

t.test('a type goes with the name’s extension, and an unknown one is a stream of octets', async (t) => {
  const names = ['a.pdf', 'a.PNG', 'a.txt', 'a.html', 'a.xyz-unknown', 'a']
  const { raw } = await deliver({ attachments: names.map((name) => file(name, Buffer.from('<b>x</b>'))) })
  const types = raw.split('\r\n--').flatMap((part) => /^[\s\S]*?Content-Type: ([^;]+);/.exec(part)?.[1] ?? [])
  t.strictSame(types.slice(-6), [
    'application/pdf',
    'image/png',
    'text/plain',
    'text/html',
    'application/octet-stream',
    'application/octet-stream',
  ])
})

const GOOD = { fileName: 'a.txt', fileContent: 'YQ==' }
/** What is no file, and the parameter that is named for it. */
const REFUSED: readonly (readonly [what: string, attachment: Record<string, unknown>, parameter: string])[] = [
  ['nothing', {}, '[1].fileName'],
  ['no name', { fileContent: 'YQ==' }, '[1].fileName'],
  ['an empty name', { ...GOOD, fileName: '' }, '[1].fileName'],
  ['a null name', { ...GOOD, fileName: null }, '[1].fileName'],
  ['no content', { fileName: 'a' }, '[1].fileContent'],
  ['empty content', { ...GOOD, fileContent: '' }, '[1].fileContent'],
  [
    'a path in place of content',
    { fileName: 'a', path: '/etc/hostname', href: 'file:///etc/hostname' },
    '[1].fileContent',
  ],
  ['content that is no base64', { ...GOOD, fileContent: '<p>hi</p>' }, '[1].fileContent'],
  ['padding in the middle', { ...GOOD, fileContent: 'YQ==YQ==' }, '[1].fileContent'],
  ['too much padding', { ...GOOD, fileContent: 'YQ===' }, '[1].fileContent'],
  ['a digit too many', { ...GOOD, fileContent: 'YWFhY' }, '[1].fileContent'],
  ['base64 beyond ASCII', { ...GOOD, fileContent: 'YQé=' }, '[1].fileContent'],
  ['a data URL', { ...GOOD, fileContent: 'data:text/plain;base64,YQ==' }, '[1].fileContent'],
  ['a blank name', { ...GOOD, fileName: ' \t' }, '[1].fileName'],
  ['a path up', { ...GOOD, fileName: '../../etc/passwd' }, '[1].fileName'],
  ['a path of Windows', { ...GOOD, fileName: '..\\autoexec.bat' }, '[1].fileName'],
  ['a name with CR', { ...GOOD, fileName: 'a\rb' }, '[1].fileName'],
  ['a name with LF', { ...GOOD, fileName: 'a\nb' }, '[1].fileName'],
  ['a name with NUL', { ...GOOD, fileName: 'a.txt\0.exe' }, '[1].fileName'],
  ['a name with DEL', { ...GOOD, fileName: 'a\x7f' }, '[1].fileName'],
  ['a name with another control character', { ...GOOD, fileName: 'a\x1b[31m' }, '[1].fileName'],
  ['a name that turns the direction of reading', { ...GOOD, fileName: 'exe\u202efdp.exe' }, '[1].fileName'],
  ['a name that isolates', { ...GOOD, fileName: 'a\u2067b' }, '[1].fileName'],
  ['a name of 256 characters', { ...GOOD, fileName: 'a'.repeat(256) }, '[1].fileName'],
]
t.test('an invalid file is rejected with 113 and named, for all and for one, and nothing is stored', async (t) => {
  const before = await stored()
  for (const [what, bad, parameter] of REFUSED) {
    const attachments = [GOOD, bad]
    const places = [
      ['attachments', { attachments }],
      [
        'personalizations[1].attachments',
        { personalizations: [{ recipient: 'a@b.example' }, { recipient: 'c@d.example', attachments }] },
      ],
    ] as const
    for (const [place, extra] of places) {
      const answer = await call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender, extra) })
      refused(t, answer, [400, 113], what)
      t.ok(errorText(answer).startsWith(`Parameter [${place}${parameter}] `), `${what}: ${errorText(answer)}`)
    }
  }
  t.equal(await stored(), before)
})

t.test('a file of a form is held to the same rules for its name', async (t) => {
  const before = await stored()
  for (const name of ['a\r\nb', 'a\0b', 'exe\u202efdp.exe', 'a'.repeat(256), ' ']) {
    const form = new FormData()
    form.set('data', JSON.stringify(v2Body(sender)))
    form.set('file', new Blob(['x']), name)
    const response = await fetch(`${base}/v2/sendEmail`, {
      method: 'POST',
      headers: { api_key: sender.apiKey },
      body: form,
    })
    t.equal(response.status, 400, JSON.stringify(name.slice(0, 20)))
    t.match(await response.json(), {
      error_info: { error_code: 113, error_message: /^Parameter \[attachments\[0\]\.fileName\] / },
    })
  }
  t.equal(await stored(), before)
})
