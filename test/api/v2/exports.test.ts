import { createServer, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import t from 'tap'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { asForm, call, errorText, FORM, JSON_TYPE } from '../call.ts'

const service = await makeService(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow', EXPORT_STORAGE_MB: '1' })
const url = await service.openApi()
const { sql, core } = service

type Row = Record<string, unknown>

const ask = (apiKey: string, body: Row = {}, path = '/stats/export', method = 'POST') =>
  call(url, {
    method,
    path: `/v2${path}`,
    headers: { ...JSON_TYPE, api_key: apiKey },
    ...(method === 'GET' ? {} : { body }),
  })
const show = async (apiKey: string, jobId: unknown): Promise<Row> =>
  (await ask(apiKey, {}, `/stats/export/${jobId}`, 'GET')).json?.data as Row
const create = async (apiKey: string, body: Row): Promise<string> => {
  const { json, text } = await ask(apiKey, body)
  const jobId = (json?.data as Row | undefined)?.jobId
  if (typeof jobId !== 'string') throw new Error(text)
  return jobId
}
const work = async () => {
  while (await core.exports.workSome());
}
const tell = async () => {
  for (let tell = await core.exports.nextTelling(); tell; tell = await core.exports.nextTelling()) await tell()
}
const number = () => numberEvents(service)
const linesOf = (text: string): Row[] => {
  t.ok(text === '' || text.endsWith('\n'))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row)
}

/** A receiver of callbacks. */
async function receiver(t: Test, answer: (request: IncomingMessage, body: string) => number = () => 200) {
  const got: { method: string | undefined; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push({ method: request.method, body })
    response.writeHead(answer(request, body)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { got, url: `http://localhost:${(server.address() as { port: number }).port}/dump` }
}

/** A message and what became of it, told by hand. Answers its transaction number. */
async function makeStory(sender: Sender, events: readonly (readonly [type: string, at: string, detail: Row])[]) {
  const { messageId } = await acceptMessage(service, sender, {
    envelopes: [envelopeTo('lena@harbor.example', { reference: 'inv-1' })],
    tags: ['berth', 'confirm'],
  })
  for (const [type, at, detail] of events) {
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      values (${at}::text::timestamptz, ${sender.accountId}, ${type}, ${messageId}::uuid, 0, ${JSON.stringify(detail)}::text::jsonb)`
  }
  await number()
  const [row] = await sql`select transaction_base::text as number from messages where id = ${messageId}::uuid`
  return String(row?.number)
}

const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)
const yesterday = day(1)

t.test('E31: an export is requested, queued, made, announced by its callback, and downloaded', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  const transaction = await makeStory(sender, [
    ['sent', `${yesterday}T10:00:00Z`, { reply: '250 2.0.0 OK', code: 250 }],
    ['bounced', `${yesterday}T11:00:00Z`, { reply: '550 5.1.1 no such user', class: 'bad-mailbox' }],
    ['expired', `${yesterday}T12:00:00Z`, { reply: '452 4.2.2 full' }],
    ['clicked', `${yesterday}T13:00:00Z`, { ip: '192.0.2.9', userAgent: 'Browser/1', url: 'https://ship.example/a' }],
    ['dropped', `${yesterday}T14:00:00Z`, { reason: 'unsubscribe' }],
    ['complained', `${yesterday}T15:00:00Z`, {}],
    ['deferred', `${yesterday}T16:00:00Z`, { reply: '451 later' }],
    ['domain', `${yesterday}T17:00:00Z`, { domain: 'ship.example' }],
  ])
  const asked = { startdate: yesterday, enddate: yesterday, callbackUrl: dump.url }
  const answer = await ask(sender.apiKey, asked)
  t.match(answer.json, {
    data: { jobId: /^exp_[0-9a-f]{32}$/, status: 'queued' },
    message: 'Success',
    error_info: null,
  })
  t.strictSame(Object.keys((answer.json?.data ?? {}) as Row), ['jobId', 'status'])
  t.strictSame(
    dump.got.map(({ method }) => method),
    ['HEAD'],
    'it is asked whether it is there',
  )
  const jobId = (answer.json?.data as Row | undefined)?.jobId
  t.match(await show(sender.apiKey, jobId), { jobId, status: 'queued', url: null, rows: 0, startdate: yesterday })
  t.match((await ask(sender.apiKey, {}, `/stats/export/${jobId}/file`, 'GET')).json?.error_info, { error_code: 1112 })

  await work()
  const done = await show(sender.apiKey, jobId)
  t.match(done, {
    status: 'done',
    rows: 6,
    format: 'json',
    problem: null,
    url: /^http:\/\/localhost:\d+\/exports\/[\w-]+$/,
  })
  await tell()
  t.strictSame(
    dump.got.slice(1).map(({ method, body }) => [method, JSON.parse(body)]),
    [
      [
        'POST',
        {
          jobId,
          status: 'done',
          format: 'json',
          startdate: yesterday,
          enddate: yesterday,
          rows: 6,
          url: done.url,
          expires: done.expires,
        },
      ],
    ],
  )
  await moveClock(sql, '3 days')
  t.notOk(await core.exports.nextTelling(), 'what is told is not told again')
  await moveClock(sql, '0')

  const link = await call(url, { method: 'GET', path: new URL(String(done.url)).pathname })
  t.equal(link.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  t.match(link.headers, { 'content-disposition': /attachment/, 'cache-control': /no-store/ })
  const file = await ask(sender.apiKey, {}, `/stats/export/${jobId}/file`, 'GET')
  t.equal(file.text, link.text)
  t.ok(link.text.includes(`"TRANSID":${transaction},`), 'its digits, though JavaScript has no such number')
  const rows = linesOf(link.text)
  const common = {
    EMAIL: 'lena@harbor.example',
    FROMADDRESS: `desk@${sender.domain}`,
    'X-APIHEADER': 'inv-1',
    TAGS: 'berth,confirm',
    MSIZE: Number,
    EVENTID: /^evt_/,
    NUMBER: Number,
  }
  const time = (hour: number) => Date.parse(`${yesterday}T${hour}:00:00Z`) / 1000
  t.match(rows, [
    { ...common, EVENT: 'sent', TIMESTAMP: time(10), RESPONSE: 'smtp;250 2.0.0 OK' },
    {
      ...common,
      EVENT: 'bounced',
      BOUNCE_TYPE: 'HARDBOUNCE',
      BOUNCE_REASON: 'bad address',
      RESPONSE: '550 5.1.1 no such user',
    },
    { ...common, EVENT: 'bounced', BOUNCE_TYPE: 'SOFTBOUNCE', TIMESTAMP: time(12) },
    { ...common, EVENT: 'clicked', IPADDRESS: '192.0.2.9', USERAGENT: 'Browser/1', URL: 'https://ship.example/a' },
    { ...common, EVENT: 'dropped', RESPONSE: 'Email dropped: User suppressed due to unsubscription' },
    { ...common, EVENT: 'spam', TIMESTAMP: time(15) },
  ])
  t.equal(rows.length, 6, 'no deferral, nothing of domains, nothing of another day')
})

t.test('the same events come at once, those that are requested, in the words of logs or webhooks', async (t) => {
  const sender = await service.makeSender()
  await makeStory(sender, [
    ['sent', `${yesterday}T10:00:00Z`, {}],
    ['opened', `${yesterday}T11:00:00Z`, {}],
    ['bounced', `${yesterday}T12:00:00Z`, { class: 'mailbox-full' }],
    ['deferred', `${yesterday}T13:00:00Z`, {}],
  ])
  const events = async (query: string) => {
    const answer = await ask(sender.apiKey, {}, `/stats/export?${query}`, 'GET')
    t.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8', answer.text)
    return linesOf(answer.text).map(({ EVENT }) => EVENT)
  }
  // The first event is of today. On a Monday yesterday's are in an earlier week, and numbered before it.
  const allEvents = async (query: string) => (await events(query)).toSorted()
  const all = ['bounced', 'opened', 'processed', 'sent']
  t.strictSame(await allEvents(`startdate=${yesterday}`), all)
  t.strictSame(await allEvents(`startdate=${yesterday}&enddate=&events=`), all)
  t.strictSame(await events(`startdate=${yesterday}&events=Sent,open`), ['sent', 'opened'])
  t.strictSame(await events(`startdate=${yesterday}&events=softbounce,deferred`), ['bounced', 'deferred'])
  t.strictSame(await events(`startdate=${yesterday}&events=hardbounce`), [])
  t.strictSame(await events(`startdate=${yesterday}&enddate=${yesterday}&events=bounced`), ['bounced'])
  t.strictSame(await events(`startdate=${day(40)}&enddate=${day(30)}`), [])
  t.strictSame(await events('startdate=2001-01-01&enddate=9999-12-31&events=sent'), ['sent'])
  const form = await call(url, {
    path: '/v2/stats/export/stream',
    headers: { ...FORM, api_key: sender.apiKey },
    body: asForm({ startdate: yesterday, events: 'sent' }),
  })
  t.equal(linesOf(form.text).length, 1)
  const numbers = linesOf((await ask(sender.apiKey, {}, `/stats/export?startdate=${yesterday}`, 'GET')).text)
  t.strictSame(
    numbers.map(({ NUMBER }) => NUMBER),
    [...numbers.map(({ NUMBER }) => Number(NUMBER))].sort((a, b) => a - b),
    'in the order of the account’s sequence',
  )
})

t.test("days are those of the account's time zone", async (t) => {
  const sender = await service.makeSender()
  await core.accounts.settings.change(
    sender.accountId,
    { timeZone: 'Pacific/Auckland' },
    { keyId: null, address: null },
  )
  const week = day(5)
  const next = day(4)
  // Midnight in Auckland is 12:00 or 11:00 of the day before in UTC.
  await makeStory(sender, [
    ['sent', `${week}T10:30:00Z`, { reply: 'before' }],
    ['sent', `${week}T12:30:00Z`, { reply: 'after' }],
  ])
  const answer = await ask(sender.apiKey, {}, `/stats/export?startdate=${next}&enddate=${next}`, 'GET')
  t.strictSame(
    linesOf(answer.text).map(({ RESPONSE }) => RESPONSE),
    ['smtp;after'],
  )
})

t.test('CSV has the same rows, and no cell that a spreadsheet takes for a formula', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  await makeStory(sender, [
    ['sent', `${yesterday}T10:00:00Z`, { reply: '=cmd|"/c calc"!A1' }],
    ['clicked', `${yesterday}T10:00:01Z`, { userAgent: '@SUM(1,2)', url: 'https://ship.example/?a=1;2' }],
    ['bounced', `${yesterday}T10:00:02Z`, { reply: '=cmd|"/c calc"!A1', class: 'spam' }],
  ])
  const jobId = await create(sender.apiKey, {
    startdate: yesterday,
    enddate: yesterday,
    events: ['sent', 'click', 'bounce'],
    format: 'csv',
    callbackUrl: dump.url,
  })
  await work()
  const { url: link } = await show(sender.apiKey, jobId)
  const file = await call(url, { method: 'GET', path: new URL(String(link)).pathname })
  t.equal(file.headers['content-type'], 'text/csv; charset=utf-8')
  t.match(file.headers['content-disposition'], /"events-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"/)
  const [head, first, second, third, end] = file.text.split('\r\n')
  t.equal(
    head,
    'TRANSID,EMAIL,FROMADDRESS,EVENT,TIMESTAMP,RESPONSE,X-APIHEADER,TAGS,MSIZE,USERAGENT,IPADDRESS,URL,' +
      'BOUNCE_TYPE,BOUNCE_REASON,BOUNCE_REASONID,EVENTID,MACHINE,NUMBER,METADATA',
  )
  t.match(
    first,
    /^\d+,lena@harbor\.example,.*,sent,\d+,"smtp;=cmd\|""\/c calc""!A1",inv-1,"berth,confirm",\d+,,,,,,,evt_[\w-]+,,\d+,$/,
  )
  t.match(second, /,"'@SUM\(1,2\)",,"https:\/\/ship\.example\/\?a=1;2",/)
  t.match(third, /,bounced,\d+,"'=cmd\|""\/c calc""!A1",/)
  t.equal(end, '')
  const empty = await create(sender.apiKey, {
    startdate: day(40),
    enddate: day(39),
    format: 'csv',
    callbackUrl: dump.url,
  })
  await work()
  const nothing = await ask(sender.apiKey, {}, `/stats/export/${empty}/file`, 'GET')
  t.equal(nothing.text, `${head}\r\n`, 'a file without rows has its heading')
})

t.test('an email announces it, once, from a domain of the account', async (t) => {
  const sender = await service.makeSender()
  const jobId = await create(sender.apiKey, { startdate: yesterday, email: 'Lena@Harbor.example' })
  await work()
  await tell()
  await sql`update export_jobs set email_told = false, tell_at = service_now() where account_id = ${sender.accountId}`
  await tell()
  const found = await sql<{ id: string; from: string; subject: string; recipient: string }[]>`
    select m.id, m.from_address as "from", m.subject, q.recipient from messages m
      join delivery_queue q on q.message_id = m.id where m.account_id = ${sender.accountId}`
  const { url: link } = await show(sender.apiKey, jobId)
  t.match(found, [{ from: `noreply@${sender.domain}`, subject: `Export ${jobId} is ready` }])
  t.equal(found.length, 1)
  const message = await core.messages.load([String(found[0]?.id)])
  const [loaded] = [...message.values()]
  const { octets } = await core.messages.render(loaded as NonNullable<typeof loaded>, {
    recipient: 'x',
    recipientNo: 0,
    personal: null,
  })
  t.match(octets.toString().replace(/=\r\n/g, ''), String(link).slice(0, 40))
  const without = await service.makeSender()
  await sql`update domains set state = 'pending' where account_id = ${without.accountId}`
  t.match((await ask(without.apiKey, { startdate: yesterday, email: 'a@harbor.example' })).json, {
    error_info: { error_code: 1109, error_message: /no active sending domain/ },
  })
})

t.test('an export sends no mail to an address that its key may not send to', async (t) => {
  const sender = await service.makeSender()
  const { auth } = core
  const key = async (scopes: ('events' | 'send')[], restrictions = {}) =>
    (await auth.createKey({ accountId: sender.accountId, scopes, restrictions })).secret
  const wanted = { startdate: yesterday, email: 'lena@harbor.example' }
  const reader = await key(['events'])
  t.match(await ask(reader, wanted), { status: 403, json: { error_info: { error_code: 103 } } })
  const narrow = await key(['events', 'send'], { recipientDomains: ['ship.example'] })
  const refused = await ask(narrow, wanted)
  t.match(refused, { status: 403, json: { error_info: { error_code: 104, error_message: /send to harbor\.example/ } } })
  const templates = await key(['events', 'send'], { templates: [1] })
  t.match((await ask(templates, wanted)).json, { error_info: { error_code: 104 } })
  t.strictSame((await ask(sender.apiKey, {}, '/stats/exports', 'GET')).json?.data, [], 'nothing was asked for')
  t.match(await ask(narrow, { ...wanted, email: 'lena@ship.example' }), { status: 200 })
})

t.test(
  'a key that is revoked before its export is done sends no mail, and the other exports are announced',
  async (t) => {
    const sender = await service.makeSender()
    const { secret, key } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['events', 'send'] })
    await create(secret, { startdate: yesterday, email: 'lena@harbor.example' })
    await core.auth.revokeKey(key.id)
    await work()
    await tell()
    t.strictSame([...(await sql`select id from messages where account_id = ${sender.accountId}`)], [])
    const [job] = await sql`select tell_at as "tellAt" from export_jobs where account_id = ${sender.accountId}`
    t.equal(job?.tellAt, null, 'and nobody tries again')
  },
)

t.test('a callback that fails is tried again, up to its limit', async (t) => {
  const sender = await service.makeSender()
  let failing = true
  const dump = await receiver(t, ({ method }) => (method === 'HEAD' || !failing ? 200 : 503))
  const posts = () => dump.got.filter(({ method }) => method === 'POST').length
  await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  await work()
  t.teardown(() => moveClock(sql, '0'))
  await tell()
  t.equal(posts(), 1)
  t.notOk(await core.exports.nextTelling(), 'not at once')
  await moveClock(sql, '61 seconds')
  await tell()
  t.equal(posts(), 2)
  failing = false
  await moveClock(sql, '7 minutes')
  await tell()
  await moveClock(sql, '2 days')
  await tell()
  t.equal(posts(), 3)
  await moveClock(sql, '0')
  failing = true
  await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  await work()
  for (let day = 0; day < 6; day++) {
    for (let round = 0; round < 5; round++) {
      await moveClock(sql, `${day * 24 + round * 5} hours`)
      await tell()
    }
  }
  t.equal(posts(), 3 + 8)
})

t.test('an invented or altered link leads nowhere, and neither does a real one after a week', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  const jobId = await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  await work()
  const path = new URL(String((await show(sender.apiKey, jobId)).url)).pathname
  t.equal((await call(url, { method: 'GET', path })).status, 200)
  const middle = path.length - 10
  const altered = `${path.slice(0, middle)}${path[middle] === 'A' ? 'B' : 'A'}${path.slice(middle + 1)}`
  for (const wrong of [altered, `${path}A`, '/exports/x', '/exports/exp_1', '/exports/1']) {
    t.equal((await call(url, { method: 'GET', path: wrong })).status, 404, wrong)
  }
  t.teardown(() => moveClock(sql, '0'))
  await moveClock(sql, '8 days')
  t.equal((await call(url, { method: 'GET', path })).status, 404)
  t.match((await ask(sender.apiKey, {}, `/stats/export/${jobId}`, 'GET')).json?.error_info, { error_code: 1112 })
  await core.exports.forgetOld()
  t.strictSame(
    [
      ...(await sql`select 1 from export_parts p join export_jobs j on j.id = p.job_id where j.public_id = ${jobId.slice(4)}::text::uuid`),
    ],
    [],
  )
})

t.test('only a queued export can be deleted', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  const first = await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  const gone = await ask(sender.apiKey, {}, `/stats/export/${first}`, 'DELETE')
  t.match(gone, { status: 200, json: { data: { jobId: first } } })
  t.match((await ask(sender.apiKey, {}, `/stats/export/${first}`, 'DELETE')).json?.error_info, { error_code: 1112 })
  const second = await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  await work()
  const late = await ask(sender.apiKey, {}, `/stats/export/${second}/delete`)
  t.match(late, { status: 400, json: { error_info: { error_code: 1113 }, message: 'Error in Stats api call' } })
  const listed = (await ask(sender.apiKey, {}, '/stats/exports')).json?.data as Row[]
  t.strictSame(
    listed.map(({ jobId, status }) => [jobId, status]),
    [[second, 'done']],
  )
  const before = (await ask(sender.apiKey, { before: second, limit: 5 }, '/stats/exports')).json?.data
  t.strictSame(before, [])
  const entries = await core.audit.list(sender.accountId, { after: 0, limit: 100 })
  t.strictSame(
    entries.filter(({ action }) => action.startsWith('export.')).map(({ action, object }) => [action, object]),
    [
      ['export.create', `export ${first}`],
      ['export.delete', `export ${first}`],
      ['export.create', `export ${second}`],
    ],
  )
})

t.test('what cannot be exported is refused with the codes of exports', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  const lost = await receiver(t, () => 404)
  const target = { callbackUrl: dump.url }
  const wrong: [Row, number, number?][] = [
    [{ startdate: '2026-1-1', ...target }, 1104],
    [{ startdate: '2026-02-30', ...target }, 1104],
    [{ startdate: yesterday, enddate: 'today', ...target }, 1104],
    [{ startdate: '0000-01-01', ...target }, 1104],
    [{ startdate: '2026-01-05', enddate: '2026-01-04', ...target }, 1105],
    [{ startdate: yesterday }, 1106],
    [{ startdate: yesterday, callbackUrl: '', email: null }, 1106],
    [{ startdate: yesterday, email: 'nobody' }, 1107],
    [{ startdate: yesterday, callbackUrl: 'ftp://localhost/dump' }, 1111],
    [{ startdate: yesterday, callbackUrl: 'http://localhost:1/dump' }, 1111],
    [{ startdate: yesterday, callbackUrl: lost.url }, 1111],
    [{ ...target }, 113],
    [{ startdate: yesterday, events: 'sent,lost', ...target }, 113],
    [{ startdate: yesterday, format: 'xml', ...target }, 113],
    [{}, 110],
  ]
  for (const [body, code] of wrong) {
    const answer = await ask(sender.apiKey, body)
    t.match(
      answer,
      { status: 400, json: { error_info: { error_code: code }, message: 'Error in Stats api call' } },
      answer.text,
    )
  }
  t.strictSame(
    lost.got.map(({ method, body }) => [method, body]),
    [
      ['HEAD', ''],
      ['POST', '{}'],
    ],
  )
  for (const query of ['startdate=x', 'startdate=2026-01-05&enddate=2026-01-04', 'enddate=2026-01-05']) {
    t.match(await ask(sender.apiKey, {}, `/stats/export?${query}`, 'GET'), { status: 400 }, query)
  }
  for (const id of ['exp_999999', '71', 'exp_x', `exp_${'0'.repeat(32)}`, `exp_${'9'.repeat(40)}`]) {
    t.match((await ask(sender.apiKey, {}, `/stats/export/${id}`, 'GET')).json?.error_info, { error_code: 1112 }, id)
  }
  t.equal((await core.exports.list(sender.accountId, { limit: 10 })).length, 0)
})

t.test('a private callback is refused where the operator does not allow it', async (t) => {
  const strict = await makeService(t)
  const base = await strict.openApi()
  const { apiKey } = await strict.makeSender()
  const dump = await receiver(t)
  const answer = await call(base, {
    path: '/v2/stats/export',
    headers: { ...JSON_TYPE, api_key: apiKey },
    body: { startdate: yesterday, callbackUrl: dump.url },
  })
  t.match(answer.json?.error_info, { error_code: 1111 })
  t.strictSame(dump.got, [])
})

t.test('an account has five exports under way at most, however many are requested at once', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => ask(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 5)
  const refused = answers.find(({ status }) => status !== 200)
  t.match(refused?.json?.error_info, { error_code: 1109, error_message: /5 exports are already queued or running/ })
  await work()
  t.equal((await ask(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })).status, 200)
  await sql`insert into export_jobs (account_id, state, format, first_day, last_day, begins_at, ends_at)
            select ${sender.accountId}, 'done', 'json', now(), now(), now(), now() from generate_series(1, 100)`
  const full = await ask(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  t.match(errorText(full), /limit of 100 reached/)
})

t.test('files beyond what an account may store end the job, give the reason, and leave nothing', async (t) => {
  const sender = await service.makeSender()
  const dump = await receiver(t)
  // Random text does not get shorter: some 4 MB in a file that may have 1.
  await sql`
    insert into events (occurred_at, account_id, type, detail)
    select ${`${yesterday}T10:00:00Z`}::text::timestamptz, ${sender.accountId}, 'sent',
           jsonb_build_object('reply', (select string_agg(md5(random()::text || i), '') from generate_series(1, 30) i where n > 0))
      from generate_series(1, 4000) n`
  await number()
  const jobId = await create(sender.apiKey, { startdate: yesterday, callbackUrl: dump.url })
  await work()
  await tell()
  const job = await show(sender.apiKey, jobId)
  t.match(job, { status: 'failed', url: null, problem: /would exceed 1 MB/ })
  t.match(JSON.parse(dump.got.at(-1)?.body ?? ''), { jobId, status: 'failed', problem: /would exceed 1 MB/ })
  const [left] =
    await sql`select count(*)::int from export_parts p join export_jobs j on j.id = p.job_id where j.public_id = ${jobId.slice(4)}::text::uuid`
  t.equal(left?.count, 0)
})
