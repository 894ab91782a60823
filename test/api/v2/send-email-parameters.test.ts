import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { type Copy, headerNames, makeArrivals } from '../arrivals.ts'

const { service, base, sender, sink, send, copies, story, deliver } = await makeArrivals(t)
const one = (element: Record<string, unknown>) => ({
  personalizations: [{ recipient: 'lena@harbor.example', ...element }],
})
const files = ({ mail }: Copy) => mail.attachments.map(({ filename, content }) => [filename, content.toString()])

t.test('a schedule in the past is now, one too far ahead or unreadable is refused and named', async (t) => {
  t.equal((await copies(await send({ schedule: '2020-01-01' }))).length, 1)
  for (const schedule of ['tomorrow', '2020-13-45', Math.floor(Date.now() / 1000) + 31 * 86_400, -5, 1e21]) {
    const { status, body } = await send({ schedule })
    t.equal(status, 400, String(schedule))
    t.match(body.error_info, { error_code: 113, error_message: /^Parameter \[schedule\] is invalid/ })
  }
})

const TAGS: readonly (readonly [tags: unknown, stored: readonly string[]])[] = [
  ['berth', ['berth']],
  [' berth , confirm ,, berth', ['berth', 'confirm']],
  [
    ['berth', 'a, b'],
    ['berth', 'a, b'],
  ],
  ['', []],
  [null, []],
]
for (const [tags, stored] of TAGS) {
  t.test(`tags ${JSON.stringify(tags)} are stored as ${JSON.stringify(stored)}`, async (t) => {
    t.strictSame((await story(await send({ tags }))).tags, stored)
  })
}

const SETTINGS: readonly (readonly [settings: unknown, stored: unknown])[] = [
  [{}, {}],
  [[], {}],
  [null, {}],
  [
    { footer: 1, clicktrack: '0', opentrack: true, unsubscribe: 'false' },
    { footer: true, openTracking: true },
  ],
  [{ footer: null, clicktrack: '' }, {}],
]
for (const [settings, stored] of SETTINGS) {
  t.test(`settings ${JSON.stringify(settings)} are stored as ${JSON.stringify(stored)}`, async (t) => {
    t.same((await story(await send({ settings }))).settings, stored)
  })
}

t.test('null and empty values stand for what was not given', async (t) => {
  const copy = await deliver({
    ...one({
      recipient_cc: null,
      recipient_bcc: [],
      'x-apiheader': null,
      'x-apiheader_cc': '',
      attributes: [],
      'x-headers': null,
      attachments: null,
    }),
    ampcontent: null,
    attachments: [],
    replyToId: '',
    templateId: '',
    attachmentId: '',
    schedule: '',
    unknown: { to: 'v2' },
  })
  t.notOk(headerNames(copy.raw).includes('reply-to'))
  t.notOk(headerNames(copy.raw).includes('cc'))
})

t.test('a stored attachment goes out by its id, in each spelling', async (t) => {
  const [row] = await service.sql`
    insert into attachments (account_id, file_name, content) values (${sender.accountId}, 'map.txt', 'the map') returning id`
  const id = row?.id as number
  for (const extra of [{ attachmentId: id }, { attachmentid: `${id}, ${id}` }, { settings: { attachmentid: [id] } }]) {
    t.match(files(await deliver(extra)), [['map.txt', 'the map']])
  }
})

t.test('sendEmail is served under its aliases, whatever the case and with a trailing slash', async (t) => {
  for (const path of ['/v2/sendemail', '/v2.1/sendEmail', '/v2/sendEmail/', '/v2/sendEmail?x=1']) {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { api_key: sender.apiKey },
      body: JSON.stringify({
        ...one({}),
        from: { fromEmail: `desk@${sender.domain}` },
        subject: 'S',
        content: 'C',
      }),
    })
    t.equal(response.status, 200, path)
  }
})

// Last, since it leaves the clock ahead.
t.test('a scheduled message waits for its time', async (t) => {
  const at = new Date(Date.now() + 3_600_000)
  const answers = await Promise.all([
    send({ schedule: Math.floor(at.getTime() / 1000) }),
    send({ schedule: String(Math.floor(at.getTime() / 1000)) }),
    send({ schedule: at.toISOString() }),
  ])
  for (const answer of answers) {
    const { scheduledAt, deliveries } = await story(answer)
    t.equal(deliveries[0]?.state, 'scheduled')
    t.ok(Math.abs((scheduledAt?.getTime() ?? 0) - at.getTime()) < 1000)
  }
  await copies(await send())
  const ids = answers.map(({ body }) => body.data?.message_id ?? '')
  t.notOk(
    sink.messages.some(({ data }) => ids.some((id) => data.includes(id))),
    'what came later is out, what is scheduled is not',
  )
  await moveClock(service.sql, '61 minutes')
  for (const answer of answers) t.equal((await copies(answer)).length, 1)
})
