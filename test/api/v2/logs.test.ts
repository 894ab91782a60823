import t from 'tap'
import { erase } from '../../helpers/erase.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { asForm, type CallAnswer, call, errorText, FORM, JSON_TYPE } from '../call.ts'
import { addPast, type Past } from './history.ts'

type Row = Record<string, unknown>

const service = await makeService(t)
const url = await service.openApi()

const ask = ({ apiKey }: Sender, query: string, path = '/v2/logs'): Promise<CallAnswer> =>
  call(url, { method: 'GET', path: `${path}?${query}`, headers: { api_key: apiKey } })
const rows = ({ json, text }: CallAnswer): Row[] => {
  if (!Array.isArray(json?.data)) throw new Error(text)
  return json.data as Row[]
}
const codeOf = ({ json }: CallAnswer): unknown => (json?.error_info as { error_code?: unknown } | undefined)?.error_code

/** The message of the contract's E23. */
const BERTH: Past = {
  acceptedAt: '2026-01-05T10:11:12Z',
  from: 'desk@ship.example',
  tags: ['berth', 'confirm'],
  transactionBase: '17676078720000004',
  deliveries: [
    {
      reference: 'order-9001',
      finishedAt: '2026-01-05T10:11:14Z',
      code: 250,
      enhanced: '2.0.0',
      reply: 'OK',
      events: [
        { type: 'opened', at: '2026-01-05T10:20:00Z', detail: { first: true, ip: '192.0.2.9', userAgent: 'Mozilla' } },
        {
          type: 'clicked',
          at: '2026-01-05T10:21:00Z',
          detail: { first: true, ip: '192.0.2.9', url: 'https://ship.example/b/4' },
        },
      ],
    },
  ],
}
const ANSWER = {
  data: [
    {
      trid: 17676078720000004,
      rcptEmail: 'lena@harbor.example',
      fromaddress: 'desk@ship.example',
      requestedTime: '2026-01-05 10:11:12',
      deliveryTime: '2026-01-05 10:11:14',
      // The contract's pair has the open's time here and a later click: what was last heard of it is the click.
      modifiedTime: '2026-01-05 10:21:00',
      status: 'click',
      size: 1834,
      remarks: '250 2.0.0 OK',
      subject: 'Berth 4',
      xapiheader: 'order-9001',
      tags: 'berth,confirm',
      opens: [{ ip: '192.0.2.9', time: '2026-01-05 10:20:00' }],
      clicks: [{ ip: '192.0.2.9', link: 'https://ship.example/b/4', time: '2026-01-05 10:21:00' }],
    },
  ],
  status: 'success',
  totalRecords: 1,
}

t.test('E23: the official command line gets its row, with every field, from what it asks literally', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, BERTH)
  const query =
    'sort=desc&startdate=2026-01-01&enddate=&limit=1&email=&offset=&events=open,click&xapiheader=&subject&fromaddress'
  const answer = await ask(sender, query)
  t.equal(answer.status, 200)
  t.strictSame(answer.json, ANSWER)
  t.match(answer.text, '"trid":17676078720000004,')
  t.strictSame((await ask(sender, `${query}&subjectHello&fromaddressdesk@ship.example`)).json, ANSWER, 'its filters')
})

t.test('E24: days without mail are an empty list', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, BERTH)
  const answer = await ask(sender, 'startdate=2020-01-01&enddate=2020-01-02')
  t.equal(answer.status, 200)
  t.strictSame(answer.json, { data: [], status: 'success', totalRecords: 0 })
})

t.test('E25: the spelling of v5 answers the same', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, BERTH)
  const query = 'startdate=2026-01-01&events=sent%2Copen&sort=desc&enddate=2026-01-31&offset=0&limit=10'
  for (const path of ['/v2/events', '/v2/events/logs', '/v2/logs', '/v2.1/events', '/v2.1/events/logs', '/v2.1/logs']) {
    t.strictSame((await ask(sender, query, path)).json, ANSWER, path)
  }
})

t.test('JSON, a form and a query ask the same question', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, BERTH)
  const body = {
    startdate: '2026-01-05',
    enddate: '2026-01-05',
    events: 'CLICK',
    limit: 10,
    email: 'Lena@Harbor.example',
  }
  const headers = { api_key: sender.apiKey }
  for (const path of ['/v2/logs', '/v2/events']) {
    t.strictSame((await call(url, { path, headers: { ...headers, ...JSON_TYPE }, body })).json, ANSWER)
    t.strictSame((await call(url, { path, headers: { ...headers, ...FORM }, body: asForm(body) })).json, ANSWER)
  }
  const listed = { ...body, events: ['open', 'click'] }
  t.strictSame(
    (await call(url, { path: '/v2/logs', headers: { ...headers, ...JSON_TYPE }, body: listed })).json,
    ANSWER,
  )
})

t.test('the official plugin asks for as many rows as there may be, and gets a page of a thousand', async (t) => {
  const sender = await service.makeSender()
  const deliveries = Array.from({ length: 1001 }, (_, at) => ({ recipient: `r${at}@harbor.example` }))
  await addPast(service, sender, { acceptedAt: '2026-02-03T04:05:06Z', deliveries })
  for (const limit of ['1000000', '1001', '99999999999999999999']) {
    const answer = await ask(sender, `startdate=2026-02-01&enddate=2026-02-28&sort=desc&limit=${limit}`)
    t.equal(rows(answer).length, 1000)
    t.match(answer.json, { totalRecords: 1001, scrollid: /^[\w-]+$/ })
  }
  t.equal(rows(await ask(sender, 'startdate=2026-02-01')).length, 10, 'ten unless told')
  t.equal(rows(await ask(sender, 'startdate=2026-02-01&limit=0')).length, 1)
  t.equal(rows(await ask(sender, 'startdate=2026-02-01&limit=-5')).length, 1)
})

t.test('a transaction number is written to the last digit, also where doubles are four apart', async (t) => {
  const sender = await service.makeSender()
  // The shortest text that stands for this double ends in 990.
  await addPast(service, sender, { acceptedAt: '2026-03-01T00:00:00Z', transactionBase: '18014398509481992' })
  t.match((await ask(sender, 'startdate=2026-03-01')).text, '"trid":18014398509481992,')
})

t.test('each copy is a row of its own, in the order of acceptance or against it', async (t) => {
  const sender = await service.makeSender()
  const two = [{ recipient: 'a@harbor.example', reference: 'one' }, { recipient: 'b@harbor.example' }]
  await addPast(service, sender, {
    acceptedAt: '2026-04-01T10:00:00Z',
    deliveries: two,
    transactionBase: '17676078720000100',
  })
  await addPast(service, sender, {
    acceptedAt: '2026-04-01T11:00:00Z',
    deliveries: [{ recipient: 'c@harbor.example' }],
  })
  const up = rows(await ask(sender, 'startdate=2026-04-01&sort=asc'))
  t.strictSame(
    up.map(({ rcptEmail }) => rcptEmail),
    ['a@harbor.example', 'b@harbor.example', 'c@harbor.example'],
  )
  t.strictSame(
    up.slice(0, 2).map(({ trid, xapiheader }) => [trid, xapiheader]),
    [
      [17676078720000100, 'one'],
      [17676078720000104, ''],
    ],
  )
  t.strictSame(rows(await ask(sender, 'startdate=2026-04-01&sort=DESC')), up.toReversed())
  t.strictSame(rows(await ask(sender, 'startdate=2026-04-01&offset=1&limit=1')), [up[1]])
  t.match((await ask(sender, 'startdate=2026-04-01&offset=7')).json, { data: [], totalRecords: 3 })
})

t.test('the status is the furthest a delivery came, and the remarks say why', async (t) => {
  const sender = await service.makeSender()
  const at = '2026-05-01T10:00:00Z'
  const later = '2026-05-01T12:00:00Z'
  const bounce = { state: 'bounced', code: 550, enhanced: '5.1.1', reply: 'no such\r\nuser' } as const
  const bounced = (name: string) =>
    ({ events: [{ type: 'bounced', at: later, detail: { class: name, reply: 'late' } }] }) as const
  const hit = (type: 'opened' | 'clicked' | 'unsubscribed' | 'complained', machine = false) =>
    ({ type, at: later, detail: machine ? { machine: 'gateway', ip: '192.0.2.1' } : { ip: '192.0.2.2' } }) as const
  const cases = {
    'waits@harbor.example': [{ state: 'queued' }, 'processed', ''],
    'deferred@harbor.example': [
      { state: 'deferred', code: 451, enhanced: '4.7.1', reply: 'try again' },
      ...(['processed', '451 4.7.1 try again'] as const),
    ],
    'sent@harbor.example': [{ code: 250, enhanced: '2.0.0', reply: 'OK' }, 'sent', '250 2.0.0 OK'],
    'machine@harbor.example': [{ events: [hit('opened', true)] }, 'sent', ''],
    'open@harbor.example': [{ events: [hit('opened')] }, 'open', ''],
    'both@harbor.example': [{ events: [hit('clicked'), hit('opened')] }, 'click', ''],
    'left@harbor.example': [{ events: [hit('opened'), hit('unsubscribed')] }, 'unsubscribe', ''],
    'angry@harbor.example': [{ events: [hit('unsubscribed'), hit('complained')] }, 'spam', ''],
    'gone@harbor.example': [{ ...bounce, ...bounced('bad-mailbox') }, 'hardbounce', '550 5.1.1 no such user'],
    'full@harbor.example': [{ ...bounce, ...bounced('mailbox-full') }, 'softbounce', '550 5.1.1 no such user'],
    'late@harbor.example': [bounced('bad-mailbox'), 'hardbounce', 'late'],
    'expired@harbor.example': [
      { state: 'expired', code: 451, reply: 'busy' },
      ...(['softbounce', '451 busy'] as const),
    ],
    nonsense: [{ state: 'dropped', reason: 'invalid' }, 'invalid', 'Email dropped: Invalid email address'],
    'no1@harbor.example': [
      { state: 'dropped', reason: 'unsubscribe' },
      ...(['dropped', 'Email dropped: User suppressed due to unsubscription'] as const),
    ],
    'no2@harbor.example': [
      { state: 'dropped', reason: 'hardbounce' },
      ...(['dropped', 'Email dropped: User suppressed due to hard bounce'] as const),
    ],
    'no3@harbor.example': [
      { state: 'dropped', reason: 'abuse' },
      ...(['dropped', 'Email dropped: User suppressed due to abuse complaint'] as const),
    ],
    'no4@harbor.example': [
      { state: 'dropped', reason: 'domain-lost' },
      ...(['dropped', 'Email dropped: The sending domain was lost'] as const),
    ],
  } as const
  const deliveries = Object.entries(cases).map(([recipient, [delivery]]) => ({ recipient, ...delivery }))
  await addPast(service, sender, { acceptedAt: at, deliveries })
  const got = rows(await ask(sender, 'startdate=2026-05-01&limit=100'))
  t.strictSame(
    Object.fromEntries(got.map(({ rcptEmail, status, remarks }) => [rcptEmail, [status, remarks]])),
    Object.fromEntries(Object.entries(cases).map(([recipient, [, status, remarks]]) => [recipient, [status, remarks]])),
  )
  t.strictSame(got.find(({ rcptEmail }) => rcptEmail === 'machine@harbor.example')?.opens, [], 'people’s alone')
  t.equal(got.find(({ rcptEmail }) => rcptEmail === 'waits@harbor.example')?.deliveryTime, '')

  const which = async (events: string): Promise<unknown[]> => {
    const answer = await ask(sender, `startdate=2026-05-01&limit=100&events=${events}`)
    const found = rows(answer).map(({ rcptEmail }) => String(rcptEmail).split('@')[0])
    t.equal(answer.json?.totalRecords, found.length, `${events} is counted`)
    return found.sort()
  }
  t.equal((await which('processed')).length, deliveries.length, 'everything was taken in')
  t.equal((await which('total_requested')).length, deliveries.length)
  t.equal((await which('')).length, deliveries.length)
  t.strictSame(await which('open'), ['both', 'left', 'open'], 'those that had one, whatever came of them')
  t.strictSame(await which('total_opened'), ['both', 'left', 'open'])
  t.strictSame(await which('click'), ['both'])
  t.strictSame(await which('unsubscribe'), ['angry', 'left'])
  t.strictSame(await which('spam'), ['angry'])
  t.strictSame(await which('bounce'), ['expired', 'full', 'gone', 'late'])
  t.strictSame(await which('hardbounce'), ['gone', 'late'])
  t.strictSame(await which('SoftBounce'), ['expired', 'full'])
  t.strictSame(await which('softbounce,hardbounce'), ['expired', 'full', 'gone', 'late'])
  t.strictSame(await which('dropped'), ['no1', 'no2', 'no3', 'no4'])
  t.strictSame(await which('invalid'), ['nonsense'])
  t.strictSame(await which('sent'), ['angry', 'both', 'late', 'left', 'machine', 'open', 'sent'])
  t.strictSame(await which('total_delivered'), await which('sent'))
  t.strictSame(await which('sent,invalid'), ['angry', 'both', 'late', 'left', 'machine', 'nonsense', 'open', 'sent'])
})

t.test('filters name the recipient, the sender, the subject, the caller’s id or the message', async (t) => {
  const sender = await service.makeSender()
  const add = (past: Partial<Past>) => addPast(service, sender, { acceptedAt: '2026-06-01T10:00:00Z', ...past })
  const id = await add({ subject: 'One', deliveries: [{ recipient: 'Ann@harbor.example', reference: 'r-1' }] })
  await add({
    subject: 'Two',
    from: 'crew@ship.example',
    deliveries: [{ recipient: 'bo@harbor.example', state: 'queued' }],
  })
  await add({ subject: 'Hi [%NAME%]', deliveries: [{ recipient: 'cy@harbor.example', attributes: { name: 'Cy' } }] })
  const which = async (filter: string): Promise<unknown[]> => {
    const answer = await ask(sender, `startdate=2026-06-01&enddate=2026-06-01&${filter}`)
    t.equal(answer.json?.totalRecords, rows(answer).length)
    return rows(answer).map(({ subject }) => subject)
  }
  t.strictSame(await which('email=ann@HARBOR.example'), ['One'])
  t.strictSame(await which('email=bo@harbor.example'), ['Two'], 'also while it waits')
  t.strictSame(await which('email=nobody@harbor.example'), [])
  t.strictSame(await which('email=ann@harbor.example&events=click'), [])
  t.strictSame(await which('email=ann@harbor.example&events=sent'), ['One'])
  t.strictSame(await which('fromaddress=Crew@ship.example'), ['Two'])
  t.strictSame(await which('fromemail=crew@ship.example'), ['Two'])
  t.strictSame(await which('subject=One'), ['One'])
  t.strictSame(await which('subject=on'), [], 'exactly')
  t.strictSame(await which('subject=Hi%20%5B%25NAME%25%5D'), ['Hi Cy'], 'as handed in, and shown as it was sent')
  t.strictSame(await which('xapiheader=r-1'), ['One'])
  t.strictSame(await which(`messageid=${id}`), ['One'])
  t.strictSame(await which(`messageid=${id.replaceAll('-', '')}`), ['One'])
  t.strictSame(await which('messageid=nonsense'), [])
  t.strictSame(await which('subject=One&email=bo@harbor.example'), [])
})

t.test('days and times are those of the account’s time zone', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, { acceptedAt: '2026-07-01T22:30:00Z', subject: 'late' })
  await addPast(service, sender, { acceptedAt: '2026-07-01T12:00:00Z', subject: 'noon' })
  const which = async (first: string, last: string) =>
    rows(await ask(sender, `startdate=${first}&enddate=${last}`)).map((row) => [row.subject, row.requestedTime])
  t.strictSame(await which('2026-07-01', '2026-07-01'), [
    ['noon', '2026-07-01 12:00:00'],
    ['late', '2026-07-01 22:30:00'],
  ])
  await service.sql`update accounts set time_zone = 'Europe/Berlin' where id = ${sender.accountId}`
  t.strictSame(await which('2026-07-01', '2026-07-01'), [['noon', '2026-07-01 14:00:00']])
  t.strictSame(await which('2026-07-02', '2026-07-02'), [['late', '2026-07-02 00:30:00']])
})

t.test('wrong questions are refused in the usual envelope, and equal dates are none', async (t) => {
  const sender = await service.makeSender()
  const code = async (query: string) => codeOf(await ask(sender, query))
  for (const date of ['05-01-2026', '2026-1-5', '2026-02-30', 'yesterday', '2026-01-05T00:00:00Z']) {
    t.equal(await code(`startdate=${date}`), 160, date)
    t.equal(await code(`startdate=2026-01-01&enddate=${date}`), 160, date)
  }
  t.equal(await code('startdate=2026-01-05&enddate=2026-01-04'), 161)
  t.equal(await code('startdate=2026-01-05&enddate=2026-01-05'), undefined)
  for (const query of ['', 'startdate=', 'enddate=2026-01-05']) {
    const answer = await ask(sender, query)
    t.match(answer, { status: 400, json: { message: 'Error in Events api call' } })
    t.equal(errorText(answer), 'Parameter [startdate] not passed', query)
  }
  for (const query of [
    'events=nope',
    'events=total_opened,open',
    'limit=ten',
    'offset=1.5',
    `email=${'x'.repeat(256)}`,
  ]) {
    t.equal(await code(`startdate=2026-01-05&${query}`), 113, query)
  }
  const blank = await call(url, { path: '/v2/logs', headers: { api_key: sender.apiKey, ...JSON_TYPE }, body: {} })
  t.equal(codeOf(blank), 110)
})

t.test('the address of a person who was forgotten is in no row, and the row is still there', async (t) => {
  const sender = await service.makeSender()
  await addPast(service, sender, { ...BERTH, transactionBase: '17676078720000400' })
  const { accountId } = sender
  await erase(service.core, accountId, ['lena@harbor.example'])
  const query = 'startdate=2026-01-01&enddate=2026-01-31'
  const answer = await ask(sender, query)
  t.notMatch(answer.text, /lena|192\.0\.2\.9|order-9001|Berth 4|b\/4/)
  t.match(answer.json, {
    totalRecords: 1,
    data: [{ rcptEmail: /^forgotten-/, status: 'click', trid: 17676078720000400 }],
  })
  t.match((await ask(sender, `${query}&email=lena@harbor.example`)).json, { data: [], totalRecords: 0 })
  t.match((await ask(sender, `${query}&events=click`)).json, { totalRecords: 1 }, 'and counted as before')
})
