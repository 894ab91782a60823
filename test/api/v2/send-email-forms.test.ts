import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { V2Answer } from '../../helpers/send.ts'
import { type Copy, makeArrivals } from '../arrivals.ts'
import { asForm, call, FORM, refused } from '../call.ts'

const { service, base, sender, copies } = await makeArrivals(t)
const key = { api_key: sender.apiKey }
const from = `desk@${sender.domain}`
const files = ({ mail }: Copy) =>
  mail.attachments.map(({ filename, content }) => [filename, content.toString('latin1')])

/** Posts a form and waits for its first copy. */
async function post(body: string | Buffer, headers: Record<string, string> = FORM): Promise<Copy> {
  const { json } = await call(base, { headers: { ...key, ...headers }, body })
  return (await copies({ body: json } as unknown as V2Answer))[0] as Copy
}

const encoded = encodeURIComponent

const SPELLINGS: readonly (readonly [name: string, form: string, expected: Record<string, unknown>])[] = [
  [
    'data as JSON (E10)',
    `data=${encoded(`{"personalizations":[{"recipient":"lena@harbor.example"}],"from":{"fromEmail":"${from}"},"subject":"S","content":"C"}`)}`,
    { subject: 'S', html: 'C' },
  ],
  [
    'brackets (E11)',
    `personalizations%5B0%5D%5Brecipient%5D=lena%40harbor.example&personalizations%5B0%5D%5Battributes%5D%5BNAME%5D=Lena` +
      `&from%5BfromEmail%5D=${encoded(from)}&from%5BfromName%5D=Desk&subject=Hi+%5B%25NAME%25%5D` +
      '&content=%3Cp%3Ehello%3C%2Fp%3E&settings%5Bclicktrack%5D=0&tags=berth',
    { subject: 'Hi Lena', html: '<p>hello</p>', from: { value: [{ name: 'Desk' }] } },
  ],
  [
    'keys whose values are JSON (E12)',
    `personalizations=${encoded('[{"recipient":"lena@harbor.example"}]')}&from=${encoded(`{"fromEmail":"${from}"}`)}&subject=S&content=C`,
    { subject: 'S', html: 'C' },
  ],
  [
    'raw brackets, and places that start at 7',
    `personalizations[7][recipient]=lena@harbor.example&from[fromEmail]=${from}&subject=100%&content=a[0]=b`,
    { subject: '100%', html: 'a[0]=b' },
  ],
  [
    'places given in any order, with gaps, and empty brackets',
    `personalizations[][recipient]=lena@harbor.example&from[fromEmail]=${from}&subject=S&content=C` +
      '&attachments[9][fileName]=nine&attachments[9][fileContent]=OQ==&attachments[2][fileName]=two&attachments[2][fileContent]=Mg==',
    { attachments: [{ filename: 'two' }, { filename: 'nine' }] },
  ],
  [
    'content URL-encoded once more than the form',
    `personalizations[0][recipient]=lena@harbor.example&from[fromEmail]=${from}&subject=S&content=${encoded(encoded('<p>Grüße</p>'))}`,
    { html: '<p>Grüße</p>' },
  ],
]
for (const [name, form, expected] of SPELLINGS) {
  t.test(`a form spelt with ${name} is delivered`, async (t) => t.match((await post(form)).mail, expected))
}

t.test('a form without subject is refused with 116, as JSON is (Xform)', async (t) => {
  const form = `personalizations[0][recipient]=lena@harbor.example&from[fromEmail]=${from}&content=C`
  refused(t, await call(base, { headers: { ...key, ...FORM }, body: form }), [400, 116, 'Subject not specified'])
})

t.test('whatever JSON can say, brackets can: flags, lists, ids and values come as text', async (t) => {
  const form = asForm({
    personalizations: [
      {
        recipient: 'lena@harbor.example',
        recipient_cc: ['a@harbor.example', 'b@harbor.example'],
        recipient_bcc: 'c@harbor.example',
        'x-apiheader': 'order-1',
        attributes: { NAME: 'Lena', 1: 'one', constructor: 'own' },
        'x-headers': { 'X-Voyage': 'V77' },
        attachments: [{ fileName: 'pass.txt', fileContent: 'UGFzcyA0' }],
      },
    ],
    from: { fromEmail: from },
    subject: '[%NAME%] [%1%] [%constructor%]',
    content: 'C',
    settings: { footer: false, clicktrack: '1', opentrack: 'true', unsubscribe: '0', bcc: 'd@harbor.example' },
    templateId: '',
    tags: 'berth,confirm',
    replyToId: 'help@ship.example',
  })
  const { json } = await call(base, { headers: { ...key, ...FORM }, body: form })
  const answer = { body: json } as unknown as V2Answer
  const all = await copies(answer, 5)
  t.strictSame(
    all.map(({ recipient }) => recipient[0]),
    ['a', 'b', 'c', 'd', 'l'],
  )
  t.match(all[0]?.mail, { subject: 'Lena one own', replyTo: { text: 'help@ship.example' } })
  t.strictSame(files(all[0] as Copy), [['pass.txt', 'Pass 4']])
  const story = await service.core.messages.show(answer.body.data?.message_id ?? '')
  t.strictSame(story?.tags, ['berth', 'confirm'])
  t.same(story?.settings, { clickTracking: true, openTracking: true })
  t.equal(story?.deliveries[0]?.reference, 'order-1')
})

t.test('a name that comes again makes a list', async (t) => {
  const form = `personalizations[0][recipient]=l@harbor.example&personalizations[0][recipient_cc]=a@harbor.example&personalizations[0][recipient_cc]=b@harbor.example&from[fromEmail]=${from}&subject=S&content=C`
  t.equal((await post(form)).mail.to?.text, 'l@harbor.example')
  const twice = await call(base, { headers: { ...key, ...FORM }, body: `${form}&subject=T` })
  refused(t, twice, [400, 113, /^Parameter \[subject\]/])
})

t.test('multipart fields are delivered, and files become attachments for everybody (E13)', async (t) => {
  const form = new FormData()
  form.set('personalizations[0][recipient]', 'lena@harbor.example')
  form.set('from[fromEmail]', from)
  form.set('subject', 'Größe')
  form.set('content', '<p>hi\r\n--there</p>')
  form.set('logo', new Blob([Buffer.from([0, 1, 13, 10, 255])]), 'logo "1" ü.png')
  form.append('more[]', new Blob(['x']), 'a.txt')
  form.append('more[]', new Blob([]), 'empty.txt')
  const response = await fetch(`${base}/v2/sendEmail`, { method: 'POST', headers: key, body: form })
  const answer = { body: await response.json() } as V2Answer
  const [copy] = (await copies(answer)) as [Copy]
  t.equal(copy.mail.subject, 'Größe')
  t.equal(copy.mail.html, '<p>hi\n--there</p>')
  t.strictSame(files(copy), [
    ['logo "1" ü.png', '\0\x01\r\n\xff'],
    ['a.txt', 'x'],
    ['empty.txt', ''],
  ])
})

/** Parts as clients write them that are no browsers. */
function multipart(...parts: string[]): Buffer {
  return Buffer.from(`preamble\r\n${parts.map((part) => `--B\r\n${part}\r\n`).join('')}--B--\r\nepilogue`, 'latin1')
}
const MULTIPART = { 'content-type': 'multipart/form-data; charset=utf-8; boundary="B"' }
const field = (name: string, value: string, more = '') =>
  `Content-Disposition: form-data; name=${name}${more}\r\n\r\n${value}`

t.test('parts of other clients are read: JSON parts, other charsets, paths, a file field left empty', async (t) => {
  const copy = await post(
    multipart(
      field('"personalizations"', '[{"recipient":"lena@harbor.example"}]', '\r\nContent-Type: application/json'),
      field('from', `{"fromEmail":"${from}"}`, '\r\ncontent-type: application/json; charset=utf-8'),
      field('subject', 'Gr\xf6\xdfe', '\r\nContent-Type: text/plain; charset=iso-8859-1'),
      field('"content"', 'C'),
      field('none', '', '; filename=""\r\nContent-Type: application/octet-stream'),
      field('path', '1', '; filename="C:\\docs\\win.txt"'),
      field('path', '2', '; filename="/tmp/unix.txt"'),
      field('curl', '3', '; filename="a\\"b.txt"'),
      field('star', '4', "; filename=x.txt; filename*=UTF-8''%e2%82%ac.txt"),
    ),
    MULTIPART,
  )
  t.equal(copy.mail.subject, 'Größe')
  t.strictSame(files(copy), [
    ['win.txt', '1'],
    ['unix.txt', '2'],
    ['a"b.txt', '3'],
    ['€.txt', '4'],
  ])
})

const curl = async (...args: string[]): Promise<V2Answer> => {
  const { stdout } = await promisify(execFile)('curl', [
    '-sS',
    '-H',
    `api_key: ${sender.apiKey}`,
    ...args,
    `${base}/v2/sendEmail`,
  ])
  return { body: JSON.parse(stdout) } as V2Answer
}
const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'curl-'))
writeFileSync(join(folder, 'letter.html'), '<p>A letter,\r\nof two lines & more</p>')
writeFileSync(join(folder, 'data.bin'), Buffer.from([0, 255, 10, 13, 10]))
const json = `{"personalizations":[{"recipient":"lena@harbor.example"}],"from":{"fromEmail":"${from}"},"subject":"S","content":"C"}`
const recipient = 'personalizations[0][recipient]=lena@harbor.example'

const CURLS: readonly (readonly [name: string, args: readonly string[], expected: Record<string, unknown>])[] = [
  ['-d JSON, which it calls a form', ['-d', json], { subject: 'S', html: 'C' }],
  ['--json', ['--json', json], { subject: 'S' }],
  [
    '-d fields',
    ['-d', recipient, '-d', `from[fromEmail]=${from}`, '-d', 'subject=Hi there', '-d', 'content=<p>50% off</p>'],
    { subject: 'Hi there', html: '<p>50% off</p>' },
  ],
  [
    '--data-urlencode, with content from a file',
    [
      '--data-urlencode',
      recipient,
      '--data-urlencode',
      `from[fromEmail]=${from}`,
      '--data-urlencode',
      'subject=a&b=c+d%20e',
      '--data-urlencode',
      `content@${folder}/letter.html`,
    ],
    { subject: 'a&b=c+d%20e', html: '<p>A letter,\nof two lines & more</p>' },
  ],
  [
    '-F with files, content from a file and JSON in a part',
    [
      '-F',
      'personalizations=[{"recipient":"lena@harbor.example"}];type=application/json',
      '-F',
      `from[fromEmail]=${from}`,
      '-F',
      'subject=S',
      '-F',
      `content=<${folder}/letter.html`,
      '-F',
      `file=@${folder}/data.bin`,
    ],
    {
      html: '<p>A letter,\nof two lines & more</p>',
      attachments: [{ filename: 'data.bin', content: Buffer.from([0, 255, 10, 13, 10]) }],
    },
  ],
  [
    'chunked',
    ['-H', 'transfer-encoding: chunked', '-H', 'content-type: application/json', '-d', json],
    { subject: 'S' },
  ],
  ['-F chunked', ['-H', 'transfer-encoding: chunked', '-F', `data=${json}`], { subject: 'S' }],
]
for (const [name, args, expected] of CURLS) {
  t.test(`curl ${name} is delivered`, async (t) => t.match((await copies(await curl(...args)))[0]?.mail, expected))
}
