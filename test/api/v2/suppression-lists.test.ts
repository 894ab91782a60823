import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

interface Taken {
  readonly report: Record<string, unknown>
  readonly rows: string[]
  readonly told: { value: string; told: string | null; status: string | null }[]
}

async function taken(csv: string): Promise<Taken> {
  const { accountId, apiKey } = await service.makeSender()
  const headers = { api_key: apiKey, 'content-type': 'text/csv' }
  const { status, json, text }: CallAnswer = await call(url, { path: '/v2/suppression/import', headers, body: csv })
  if (status !== 200) throw new Error(`${status} ${text}`)
  const exported = await call(url, { method: 'GET', path: '/v2/suppression/export', headers: { api_key: apiKey } })
  return {
    report: json?.data as Record<string, unknown>,
    rows: exported.text.split('\r\n').slice(1, -1),
    told: await service.sql`
      select value, told, told_status as status from suppressions where account_id = ${accountId} order by value`,
  }
}

const AT = '"2026-01-05 10:11:12"'
/** 5 January 2026, 10:11:12 UTC. */
const SECONDS = 1767607872

/** The lists as the providers export them, and the entries that they make. */
const LISTS: readonly (readonly [what: string, csv: string, rows: readonly string[]])[] = [
  [
    "Postmark's suppressions",
    `EmailAddress,SuppressionReason,Origin,CreatedAt
a@x.example,HardBounce,Recipient,2026-01-05T05:11:12-05:00
b@x.example,SpamComplaint,Recipient,2026-01-05T05:11:12-05:00
c@x.example,ManualSuppression,Recipient,2026-01-05T05:11:12-05:00
d@x.example,ManualSuppression,Customer,2026-01-05T05:11:12-05:00`,
    ['a,hardbounce', 'b,abuse', 'c,unsubscribe', 'd,manual'],
  ],
  [
    "Amazon SES's suppression list",
    `EmailAddress,Reason,LastUpdateTime
a@x.example,BOUNCE,2026-01-05T11:11:12.000000+01:00
b@x.example,COMPLAINT,${SECONDS}.0`,
    ['a,hardbounce', 'b,abuse'],
  ],
  [
    "Resend's suppressions",
    `id,email,origin,source_id,created_at
e169aa45-1ecf-4183-9955-b1499d5701d3,a@x.example,manual,,2026-01-05 10:11:12.678+00
520784e2-887d-4c25-b53c-4ad46ad38100,b@x.example,bounce,4ef9a417-02e9-4d39-ad75-9611e0fcc33c,2026-01-05T10:11:12.678Z
520784e2-887d-4c25-b53c-4ad46ad38101,c@x.example,complaint,,2026-01-05 10:11:12 +0000 UTC`,
    ['a,manual', 'b,hardbounce', 'c,abuse'],
  ],
  [
    "SendGrid's spam reports",
    `ip,email,created\n192.0.2.1,a@x.example,${SECONDS}\n,b@x.example,${SECONDS}`,
    ['a,abuse', 'b,abuse'],
  ],
  ["SendGrid's unsubscribes", `email,created\na@x.example,${SECONDS}`, ['a,unsubscribe']],
  [
    "SendGrid's invalid emails",
    `reason,email,created\nMail domain mentioned in email address is unknown,a@x.example,${SECONDS}`,
    ['a,hardbounce'],
  ],
  [
    "Mailgun's complaints",
    'address,created_at\na@x.example,"Mon, 05 Jan 2026 10:11:12 UTC"\nb@x.example,"Mon, 05 Jan 2026 11:11:12 +0100"',
    ['a,abuse', 'b,abuse'],
  ],
  [
    "Mailgun's unsubscribes",
    'address,tags,created_at\na@x.example,*,"Mon, 05 Jan 2026 10:11:12 GMT"\nb@x.example,"[""*""]",2026-01-05 10:11:12 UTC',
    ['a,unsubscribe', 'b,unsubscribe'],
  ],
]

const entry = (short: string) => short.replace(/^(\w),(\w+)$/, `$1@x.example,,$2,${AT},`)

/** The same list, in other dress. */
const DRESSES: readonly (readonly [what: string, dress: (csv: string) => string])[] = [
  ['as exported', (csv) => csv],
  ['with a byte order mark and CRLF', (csv) => `\ufeff${csv.replaceAll('\n', '\r\n')}\r\n`],
  ['with other spelling of the columns', (csv) => csv.replace(/^.*/, (names) => spelled(names))],
  ['with the columns in the other order and all in quotes', (csv) => csv.split('\n').map(reversed).join('\n')],
]

function spelled(names: string): string {
  return names
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toUpperCase()
}

function reversed(line: string): string {
  const cells = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
  return cells
    .map((cell) => (cell.startsWith('"') ? cell : `"${cell}"`))
    .reverse()
    .join(',')
}

for (const [what, csv, rows] of LISTS) {
  for (const [how, dress] of DRESSES) {
    t.test(`${what} ${how} keep reason and time`, async (t) => {
      const { report, rows: given } = await taken(dress(csv))
      t.match(report, { added: rows.length, wrong: 0 }, JSON.stringify(report))
      t.strictSame(given, rows.map(entry))
    })
  }
}

t.test('bounces of SendGrid and Mailgun keep what the server said', async (t) => {
  const words = '550 5.1.1 The account does not exist, see "help"'
  const cell = `"${words.replaceAll('"', '""')}"`
  const sendgrid = await taken(`status,reason,email,created\n5.1.1,${cell},a@x.example,${SECONDS}\n`)
  t.strictSame(sendgrid.rows, [entry('a,hardbounce')])
  t.strictSame([...sendgrid.told], [{ value: 'a@x.example', told: words, status: '5.1.1' }])
  const mailgun = await taken(
    `address,code,error,created_at\na@x.example,550,${cell},"Mon, 05 Jan 2026 10:11:12 UTC"\n`,
  )
  t.strictSame(mailgun.rows, [entry('a,hardbounce')])
  t.strictSame([...mailgun.told], [{ value: 'a@x.example', told: words, status: null }])
})

/** Lists without a header: what their first row has. */
const BARE: readonly (readonly [what: string, csv: string, rows: readonly string[]])[] = [
  ["SES's import format", 'a@x.example,BOUNCE\nb@x.example,COMPLAINT', ['a,hardbounce', 'b,abuse']],
  ['addresses only', 'a@x.example\r\nb@x.example\r\n', ['a,manual', 'b,manual']],
  ['addresses and our reasons', 'unsubscribe;a@x.example\nabuse;b@x.example', ['a,unsubscribe', 'b,abuse']],
  ["Postmark's columns", `a@x.example,ManualSuppression,Recipient,2026-01-05T10:11:12Z`, ['a,unsubscribe']],
  ["SendGrid's bounces", `5.1.1,550 unknown,a@x.example,${SECONDS}`, ['a,hardbounce']],
  ["Mailgun's bounces", 'a@x.example,550,unknown,"Mon, 05 Jan 2026 10:11:12 UTC"', ['a,hardbounce']],
  ["Mailgun's unsubscribes", '"a@x.example","*","Mon, 05 Jan 2026 10:11:12 UTC"', ['a,unsubscribe']],
  [
    "Resend's columns",
    'e169aa45-1ecf-4183-9955-b1499d5701d3,a@x.example,bounce,,2026-01-05T10:11:12Z',
    ['a,hardbounce'],
  ],
]

for (const [what, csv, rows] of BARE) {
  t.test(`a file without a header, with ${what}, loses no row`, async (t) => {
    const { report, rows: given } = await taken(csv)
    t.match(report, { rows: rows.length, added: rows.length, wrong: 0 }, JSON.stringify(report))
    const reasons = given.map((row) => row.split(',')).map(([email = '', , reason]) => `${email[0]},${reason}`)
    t.strictSame(reasons, rows)
    if (/2026|1767/.test(csv)) t.strictSame(given, rows.map(entry))
  })
}

t.test('a reason that is not known is a row of the report', async (t) => {
  const ses = await taken('EmailAddress,Reason\na@x.example,BOUNCE\nb@x.example,TENANT_REPUTATION\n')
  t.match(ses.report, { rows: 2, added: 1, wrong: 1, problems: [{ line: 3, problem: /\[reason\]/ }] })
  const bare = await taken('a@x.example,SOMETHING\nb@x.example,COMPLAINT\n')
  t.match(bare.report, { rows: 2, added: 1, wrong: 1, problems: [{ line: 1, problem: /\[reason\]/ }] })
})

t.test('an unsubscribe of a tag at Mailgun is a row of the report, and not one of all mail', async (t) => {
  const { report, rows } = await taken('address,tags,created_at\na@x.example,news,\nb@x.example,*,\n')
  t.match(report, { added: 1, wrong: 1, problems: [{ line: 2, problem: /certain tags/ }] })
  t.match(rows, [/^b@x.example,,unsubscribe/])
})

t.test("a list of one's own with SendGrid's column names keeps its reasons", async (t) => {
  const { rows } = await taken(`email,reason,created\na@x.example,unsubscribe,${SECONDS}\n`)
  t.strictSame(rows, [entry('a,unsubscribe')])
})

t.test("Mailgun's allowlist is not taken for a list of suppressions", async (t) => {
  await t.rejects(taken('type,value,reason,created_at\naddress,a@x.example,vip,\n'), /\[email\] not passed/)
})

t.test('*@domain is the domain, in a file and in a call', async (t) => {
  const { rows } = await taken('email,reason\n*@X.example,manual\na@y.example,abuse\n')
  t.match(rows, [/^a@y.example,,abuse/, /^,x.example,manual/])
  t.match((await taken('*@x.example\n')).rows, [/^,x.example,manual/], 'without a header')
  const grouped = await taken('email,group\n*@x.example,5\n')
  t.match(grouped.report, { wrong: 1, problems: [{ line: 2, problem: /\[domain\]/ }] })

  const { accountId, apiKey } = await service.makeSender()
  const post = (path: string, email: unknown) =>
    call(url, { path, headers: { api_key: apiKey }, body: { email } as Record<string, unknown> })
  t.match(await post('/v2/suppression', ['*@x.example', 'b@y.example']), { status: 200, json: { data: { added: 2 } } })
  t.match(await post('/v2/suppression/check', 'any@x.example'), {
    json: { data: { suppressed: true, heldBy: [{ scope: 'domain', value: 'x.example' }] } },
  })
  t.match(await post('/v2/suppression', '*@no domain'), { status: 400, json: { error_info: { error_code: 141 } } })
  t.match(await post('/v2/suppression/remove', '*@x.example'), { status: 200, json: { data: { removed: 1 } } })
  const left = await service.sql`select value from suppressions where account_id = ${accountId}`
  t.strictSame([...left], [{ value: 'b@y.example' }])
})
