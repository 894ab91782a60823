import { request } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { type CallAnswer, call, errorText } from '../call.ts'

const service = await makeService(t)
const url = await service.openApi()

const CSV = { 'content-type': 'text/csv' }

interface Caller {
  readonly accountId: number
  readonly apiKey: string
  take(csv: string | Buffer, query?: string, headers?: Record<string, string>): Promise<CallAnswer>
  /** The rows of the export, without its heading. */
  give(): Promise<string[]>
}

async function makeCaller(): Promise<Caller> {
  const { accountId, apiKey } = await service.makeSender()
  return {
    accountId,
    apiKey,
    take: (csv, query = '', headers = CSV) =>
      call(url, { path: `/v2/suppression/import${query}`, headers: { api_key: apiKey, ...headers }, body: csv }),
    async give() {
      const { status, text } = await call(url, {
        method: 'GET',
        path: '/v2/suppression/export',
        headers: { api_key: apiKey },
      })
      if (status !== 200) throw new Error(text)
      return text.split('\r\n').slice(1, -1)
    },
  }
}

function reportOf({ status, json, text }: CallAnswer): Record<string, unknown> {
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json?.data as Record<string, unknown>
}

t.test('a list is imported with its reasons and times, and exported as it was', async (t) => {
  const { take, give } = await makeCaller()
  const csv = [
    'email,domain,reason,since,group',
    'lena@harbor.example,,unsubscribe,2026-01-05 10:11:12,',
    'mina@harbor.example,,hardbounce,2026-01-05T10:11:12+02:00,',
    'nora@harbor.example,,,2026-01-05,',
    ',spam.example,abuse,2026-01-05 10:11:12,',
    'lena@harbor.example,,unsubscribe,2026-02-05 00:00:00,5',
  ]
  t.strictSame(reportOf(await take(csv.join('\r\n'))), { rows: 5, added: 5, known: 0, wrong: 0, problems: [] })
  const rows = await give()
  t.strictSame(rows, [
    'lena@harbor.example,,unsubscribe,"2026-01-05 10:11:12",',
    'lena@harbor.example,,unsubscribe,"2026-02-05 00:00:00",5',
    'mina@harbor.example,,hardbounce,"2026-01-05 08:11:12",',
    'nora@harbor.example,,manual,"2026-01-05 00:00:00",',
    ',spam.example,abuse,"2026-01-05 10:11:12",',
  ])
  const again = ['email,domain,reason,since,group', ...rows].join('\n')
  t.match(reportOf(await take(again)), { rows: 5, added: 0, known: 5 }, 'what is there stays')
  const other = await makeCaller()
  t.match(reportOf(await other.take(again)), { added: 5 })
  t.strictSame(await other.give(), rows)
})

/** Files of other programs. */
const TAKEN: readonly (readonly [what: string, csv: string | Buffer])[] = [
  ['a byte order mark, and no line end at the end', '\ufeffemail\na@x.example'],
  ['semicolons and columns nobody knows', 'id;Email;name\r\n1;a@x.example;Lena\r\n'],
  ['tabs', 'EMAIL\tsource\na@x.example\tshop\n'],
  ['quotes and blanks', '"email" , "reason"\n" a@x.example ","Manual"\n\n'],
  ['an entry that comes twice', 'email\na@x.example\nA@X.example\n'],
  ['a time in the future, which is now', 'email,since\na@x.example,2999-01-01\n'],
]

for (const [what, csv] of TAKEN) {
  t.test(`a file with ${what} is taken`, async (t) => {
    const { take, give } = await makeCaller()
    t.match(reportOf(await take(csv)), { added: 1, wrong: 0 })
    t.match(await give(), [/^a@x.example,,manual,"20[2-4]\d-/])
  })
}

t.test('invalid rows are told with their lines, and the others are taken', async (t) => {
  const { take, give } = await makeCaller()
  const csv = [
    'email,domain,reason,since,group',
    'a@x.example,,,,',
    'nope,,,,',
    '',
    ',no domain,,,',
    'b@x.example,,because,,',
    'c@x.example,,,yesterday,',
    ',,manual,,',
    'd@x.example,,,,five',
    ',x.example,,,5',
    'e@x.example,,global,,',
    'f@x.example,,,2026-13-45,',
    'g@x.example,,,2026-02-31 10:00,',
    '"a b"@x.example.,,,,',
    'z@x.example',
  ]
  const { problems, ...report } = reportOf(await take(csv.join('\n')))
  t.strictSame(report, { rows: 13, added: 2, known: 0, wrong: 11 })
  t.match(problems, [
    { line: 3, problem: 'Invalid email address' },
    { line: 5, problem: 'Invalid email domain' },
    { line: 6, problem: /\[reason\] is invalid: must be one of unsubscribe/ },
    { line: 7, problem: /\[since\] is invalid: must be a time like/ },
    { line: 8, problem: 'Parameter [email] not passed' },
    { line: 9, problem: /\[group\]/ },
    { line: 10, problem: /\[domain\]/ },
    { line: 11, problem: /\[reason\]/ },
    { line: 12, problem: /\[since\]/ },
    { line: 13, problem: /\[since\]/ },
    { line: 14, problem: 'Invalid email address' },
  ])
  t.match(await give(), [/^a@x/, /^z@x/])
})

t.test('of very many invalid rows the first hundred are told, and all are counted', async (t) => {
  const { take } = await makeCaller()
  const report = reportOf(await take(`email\n${'nope\n'.repeat(5000)}`))
  t.match(report, { rows: 5000, added: 0, wrong: 5000 })
  t.equal((report.problems as unknown[]).length, 100)
})

t.test('with atomic nothing is taken when a row is wrong', async (t) => {
  const { take, give, accountId } = await makeCaller()
  const csv = 'email\na@x.example\nnope\nb@x.example\n'
  const answer = await take(csv, '?atomic=true')
  t.match(answer, { status: 400, json: { error_info: { error_code: 142 } } })
  t.equal(errorText(answer), 'Import rejected: 1 of 3 rows are invalid: line 3: Invalid email address')
  t.strictSame(await give(), [])
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  t.notOk(entries.some(({ action }) => action === 'suppression.import'))
  t.match(reportOf(await take(csv.replace('nope', 'c@x.example'), '?atomic=1')), { added: 3 })
  t.equal((await give()).length, 3)
})

const REFUSED: readonly (readonly [what: string, csv: string, code: number, said: RegExp])[] = [
  ['no body', '', 110, /Blank/],
  ['blank lines only', '\n\n', 110, /Blank/],
  ['neither of the columns', 'name,reason\nLena,manual\n', 113, /\[email\] not passed/],
  ['JSON', '{"email":"a@x.example"}', 113, /\[email\] not passed/],
  ['a quote that is not closed', 'email\na@x.example\n"b@x.example\n', 143, /Invalid CSV: line \d: unclosed quote/],
  ['a row without end', `email\n"${'x'.repeat(20_000)}`, 143, /Invalid CSV: line 2: a row exceeds 8192 bytes/],
  // The parser counts what stands in cells, and takes it for one row of a hundred thousand.
  ['a row of nothing but commas', `email\n${','.repeat(100_000)}`, 143, /Invalid CSV: a row exceeds 8192 bytes/],
]

for (const [what, csv, code, said] of REFUSED) {
  t.test(`${what} is refused with ${code}, and nothing is taken`, async (t) => {
    const { take, give } = await makeCaller()
    const answer = await take(csv)
    t.match(answer, { status: 400, json: { error_info: { error_code: code } } })
    t.match(errorText(answer), said)
    t.notMatch(errorText(answer), /x\.example/)
    t.strictSame(await give(), [])
  })
}

t.test('octets that are not UTF-8 make no address', async (t) => {
  const { take } = await makeCaller()
  const csv = Buffer.concat([Buffer.from('email\n'), Buffer.from([0xe9, 0x6c]), Buffer.from('@x.example\n')])
  t.match(reportOf(await take(csv)), { added: 0, wrong: 1 })
})

t.test('an address that a spreadsheet would take for a formula is guarded, and read again as it was', async (t) => {
  const { give, accountId } = await makeCaller()
  const odd = ['=1+1@x.example', '+a@x.example', '-a@x.example', "'=a@x.example", "o'hara@x.example", '"a,b"@x.example']
  await service.core.suppressions.addAll({ accountId, emails: odd })
  const rows = await give()
  for (const row of rows) t.notMatch(row, /^"?[=+\-@\t\r]/)
  const other = await makeCaller()
  const csv = ['email,domain,reason,since,group', ...rows].join('\r\n')
  t.match(reportOf(await other.take(csv)), { added: odd.length, wrong: 0 })
  const stored = await service.sql`select value from suppressions where account_id = ${other.accountId}`
  t.strictSame(stored.map(({ value }) => value).sort(), odd.toSorted())
})

t.test('a list of a hundred thousand comes in chunks without a length, and goes out in pages', async (t) => {
  const { take: _, give, apiKey, accountId } = await makeCaller()
  const count = 100_000
  function* csv() {
    yield 'email,reason\r\n'
    for (let at = 0; at < count; at += 1000) {
      yield Array.from({ length: 1000 }, (_, of) => `r${at + of}@harbor.example,unsubscribe\r\n`).join('')
    }
  }
  const response = await fetch(`${url}/v2/suppression/import`, {
    method: 'POST',
    headers: { api_key: apiKey, ...CSV },
    body: Readable.toWeb(Readable.from(csv())) as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  t.match(await response.json(), { data: { rows: count, added: count, known: 0, wrong: 0 } })
  const rows = await give()
  t.equal(rows.length, count)
  t.equal(new Set(rows).size, count)
  const entries = await service.core.audit.list(accountId, { after: 0, limit: 100 })
  t.match(
    entries.filter(({ action }) => action === 'suppression.import'),
    Array(20).fill({ after: { added: count / 20, known: 0 } }),
    'one for each part',
  )
})

t.test('a client that breaks off has changed nothing', async (t) => {
  const { give, apiKey } = await makeCaller()
  const sessions = async () =>
    Number((await service.sql`select count(*) from pg_class where relname = 'aside'`)[0]?.count)
  const upload = request(`${url}/v2/suppression/import`, { method: 'POST', headers: { api_key: apiKey, ...CSV } })
  upload.on('error', () => {})
  upload.write(`email\n${Array.from({ length: 5000 }, (_, at) => `r${at}@harbor.example\n`).join('')}`)
  await until('the import to have begun', async () => (await sessions()) > 0)
  upload.destroy()
  await until('its session to be gone', async () => (await sessions()) === 0)
  t.strictSame(await give(), [])
})

t.test('an account has one import at a time with its subaccounts, and slow ones do not keep others out', async (t) => {
  const [slow, other] = [await makeCaller(), await makeCaller()]
  const account = (await service.core.accounts.list()).find(({ id }) => id === slow.accountId)
  const { secret } = await service.core.subaccounts.create(account as NonNullable<typeof account>, {
    username: 'importer',
    email: 'importer@ship.example',
    password: undefined,
    creditType: 'unlimited',
  })
  const begun = async () =>
    (await service.sql<{ count: number }[]>`select count(*)::int as count from pg_class where relname = 'aside'`)[0]
      ?.count
  const upload = request(`${url}/v2/suppression/import`, { method: 'POST', headers: { api_key: slow.apiKey, ...CSV } })
  upload.on('error', () => {})
  upload.write('email\n')
  await until('it to have begun', async () => (await begun()) === 1)
  for (const api_key of [slow.apiKey, secret]) {
    const answer = await slow.take('email\na@x.example\n', '', { api_key, ...CSV })
    t.match(answer, { status: 503, headers: { 'retry-after': '1' }, json: { error_info: { error_code: 503 } } })
  }
  t.match(reportOf(await other.take('email\na@x.example\n')), { added: 1 })
  upload.destroy()
  // Its place is free a moment after its session is gone.
  const next = await until('its place to be free', async () => {
    const answer = await slow.take('email\na@x.example\n')
    return answer.status === 503 ? undefined : answer
  })
  t.match(reportOf(next), { added: 1 })
})

t.test('a file that is announced too long is refused before it is read', async (t) => {
  const { apiKey } = await makeCaller()
  const status = await new Promise((resolve) => {
    const headers = { api_key: apiKey, ...CSV, 'content-length': String(128 * 1024 * 1024 + 1) }
    const upload = request(`${url}/v2/suppression/import`, { method: 'POST', headers }, (response) => {
      resolve(response.statusCode)
      upload.destroy()
    })
    upload.on('error', () => {})
    upload.flushHeaders()
  })
  t.equal(status, 413)
})

t.test('an import is an account’s own: another one’s list stays as it is', async (t) => {
  const [one, other] = [await makeCaller(), await makeCaller()]
  await other.take('email,reason\nboth@harbor.example,abuse\n')
  t.match(reportOf(await one.take('email\nboth@harbor.example\nown@harbor.example\n')), { added: 2 })
  t.match(await other.give(), [/^both@harbor.example,,abuse/])
})
