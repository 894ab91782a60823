import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReturnResult } from '@postrider/core'
import t, { type Test } from 'tap'
import { postrider, postriderProcess } from '../cli/postrider.ts'
import { HANG_UP, type SinkAnswer, startSink } from '../helpers/sink.ts'
import { putInFlight, startOutbox } from './outbox.ts'
import { bounceReport, complaintReport } from './reports.ts'

/** What the server answers to the message for each recipient, after it has all of it. */
const answers = new Map<string, SinkAnswer>()
const received: { readonly to: string; readonly from: string; readonly text: string }[] = []
const sink = await startSink(t, {
  dot({ message: { data, to, from } }) {
    received.push({ to: to[0] ?? '', from: from ?? '', text: String(data) })
    return answers.get(to[0] ?? '')
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
const folder = t.testdir()
let names = 0

async function take(report: string, ...options: string[]) {
  const file = join(folder, `${++names}.eml`)
  writeFileSync(file, report)
  const { code, stdout, stderr } = await postrider(service.env, 'returns', 'take', ...options, file, '--json')
  return { code, stderr, ...(code === 0 ? (JSON.parse(stdout) as ReturnResult) : {}) } as Partial<ReturnResult> & {
    readonly code: number
    readonly stderr: string
  }
}

/** A message that the server has taken, and the return path that it came with. */
async function makeDelivered(extra: Record<string, unknown> = {}) {
  const to = `lena${++names}@harbor.example`
  const id = await outbox.send(to, extra)
  await outbox.inState(id, 'delivered')
  const copy = received.find((one) => one.to === to)
  return { to, id, path: copy?.from ?? '', text: copy?.text ?? '' }
}

const stateOf = async (id: string) => (await outbox.story(id)).deliveries[0]?.state
const lastEvent = async (id: string) => (await outbox.story(id)).events.at(-1)
const reasonsOf = async (address: string) =>
  (await service.core.suppressions.holding(sender.accountId, address)).map(({ reason }) => reason)

t.test(
  'a bounce that is reported late is an event of the delivered message, once, and suppresses the address',
  async (t) => {
    const { to, id, path } = await makeDelivered()
    t.match(await take(bounceReport(path)), {
      kind: 'bounce',
      effect: 'bounced',
      delivery: { messageId: id },
      why: null,
    })
    t.equal(await stateOf(id), 'delivered')
    t.match(await lastEvent(id), {
      type: 'bounced',
      detail: { late: true, code: 550, enhanced: '5.1.1', class: 'bad-mailbox', reply: /User unknown/ },
    })
    t.strictSame(await reasonsOf(to), ['hardbounce'])
    t.match(
      (await service.core.messages.why({ messageId: id }))?.deliveries[0]?.text,
      /^Delivered at .*It was reported as undeliverable at \d\d:\d\d UTC: 550 5\.1\.1 <lena@harbor\.example>: User unknown$/,
    )
    t.match(await take(bounceReport(path)), { code: 0, effect: 'none', why: 'repeated' })
    t.equal((await outbox.story(id)).events.filter(({ type }) => type === 'bounced').length, 1)
  },
)

t.test('a soft bounce suppresses no one, also where the message was passed on to several', async (t) => {
  const full = await makeDelivered()
  const quota = { status: '5.2.2', diagnostic: '552 5.2.2 mailbox full' }
  t.match(await take(bounceReport(full.path, [quota])), { effect: 'bounced' })
  t.match(await lastEvent(full.id), { type: 'bounced', detail: { class: 'mailbox-full' } })
  t.strictSame(await reasonsOf(full.to), [])
  const list = await makeDelivered()
  const members = [{ recipient: 'a@quay.example' }, { recipient: 'b@quay.example', ...quota }]
  t.match(await take(bounceReport(list.path, members)), { effect: 'bounced' })
  t.match(await lastEvent(list.id), { detail: { class: 'mailbox-full' } })
  t.strictSame(await reasonsOf(list.to), [])
})

t.test(
  'a first recipient that is delayed does not hide a second one that failed; a delay alone has no effect',
  async (t) => {
    const { id, path } = await makeDelivered()
    const delayed = { action: 'delayed', status: '4.4.1', diagnostic: '451 4.4.1 later' }
    t.match(await take(bounceReport(path, [delayed])), { effect: 'none', why: 'not-failed' })
    t.equal((await lastEvent(id))?.type, 'sent')
    t.match(await take(bounceReport(path, [delayed, {}])), { effect: 'bounced' })
  },
)

t.test('a report names another recipient: the delivery is that of the return path', async (t) => {
  const { to, id, path } = await makeDelivered()
  const other = await makeDelivered()
  t.match(await take(bounceReport(path, [{ recipient: other.to }])), { effect: 'bounced', delivery: { messageId: id } })
  t.strictSame(await reasonsOf(to), ['hardbounce'])
  t.strictSame(await reasonsOf(other.to), [])
})

t.test('the recipient may be given, or noted by the server that passes the report on', async (t) => {
  for (const [name, header, options] of [
    ['--recipient', '', (path: string) => ['--recipient', path]],
    ['Delivered-To', 'Delivered-To: ', () => []],
    ['X-Original-To', 'X-Original-To: ', () => []],
  ] as const) {
    const { path } = await makeDelivered()
    const report = bounceReport('postmaster@ship.example')
    t.match(await take(report), { effect: 'none', why: 'unsigned' }, `without ${name}`)
    const noted = header === '' ? report : `${header}<${path}>\r\n${report}`
    t.match(await take(noted, ...options(path)), { effect: 'bounced' }, name)
  }
})

t.test('forged, altered and foreign return paths have no effect', async (t) => {
  const { id, path } = await makeDelivered()
  const [local = '', host = ''] = path.split('@')
  const altered = Array.from(local.slice(2), (letter, at) => {
    const other = letter === 'a' ? 'b' : 'a'
    return `b-${local.slice(2, at + 2)}${other}${local.slice(at + 3)}@${host}`
  })
  const forged = [
    ...altered,
    '',
    '@',
    'b-@x',
    `b-${'a'.repeat(50)}@${host}`,
    `${local.slice(0, -1)}@${host}`,
    `${local}a@${host}`,
    `a-${local.slice(2)}@${host}`,
    `x${path}`,
    'desk@ship.example',
    `${'b-'.repeat(5000)}@${host}`,
  ]
  t.ok(forged.length >= 30)
  for (const one of forged)
    t.match(await service.core.returns.take({ raw: Buffer.from(bounceReport(one)), recipients: [one] }), {
      effect: 'none',
      why: 'unsigned',
    })
  t.equal((await lastEvent(id))?.type, 'sent')
})

t.test('a return path that is too old has no effect on a bounce, and one on a complaint', async (t) => {
  const { path } = await makeDelivered()
  const of = async (days: number, report: string) => {
    const now = () => Date.now() + days * 86_400_000
    const { createReturns } = await import('../../packages/core/src/returns/index.ts')
    const { createSecrets } = await import('../../packages/core/src/platform/security/secrets.ts')
    const secrets = createSecrets(service.env.SECRET_KEY as string)
    const returns = createReturns({
      sql: service.sql,
      secrets,
      now,
      config: service.config,
      aggregateReports: service.core.aggregateReports,
    })
    return returns.take({ raw: Buffer.from(report), recipients: [path] })
  }
  t.match(await of(31, bounceReport(path)), { why: 'unsigned' })
  const complaint = complaintReport(`Return-Path: <${path}>\r\n`)
  t.match(await of(91, complaint), { why: 'unsigned' })
  t.match(await of(89, complaint), { effect: 'complained' })
})

t.test('a bounce report ends a delivery whose reply was lost, and no second copy is sent', async (t) => {
  const to = `lost${++names}@harbor.example`
  answers.set(to, HANG_UP)
  const id = await outbox.send(to)
  await outbox.attempted(id, 1)
  answers.delete(to)
  const path = received.find((one) => one.to === to)?.from ?? ''
  t.match(await take(bounceReport(path)), { effect: 'bounced' })
  t.equal(await stateOf(id), 'bounced')
  t.strictSame(await reasonsOf(to), ['hardbounce'])
  await outbox.advance(10)
  await outbox.inState(await outbox.send('other@harbor.example'), 'delivered')
  t.equal(received.filter((one) => one.to === to).length, 1)
})

t.test('mail that no server has is not ended by a report', async (t) => {
  const to = `busy${++names}@harbor.example`
  answers.set(to, '451 4.3.0 later')
  const id = await outbox.send(to)
  await outbox.attempted(id, 1)
  const path = received.find((one) => one.to === to)?.from ?? ''
  t.match(await take(bounceReport(path)), { effect: 'none', why: 'waiting' })
  answers.delete(to)
  await outbox.advance(10)
  await outbox.inState(id, 'delivered')
})

t.test('a report that comes while the attempt is in progress is to be taken again', async (t) => {
  const { id, path, to } = await makeDelivered()
  await putInFlight(service, id)
  t.match(await take(bounceReport(path)), { code: 75, stderr: /an attempt is in progress/ })
  await service.sql`delete from delivery_queue where message_id = ${id}::uuid`
  t.match(await take(bounceReport(path)), { code: 0, effect: 'none', why: 'gone' })
  t.strictSame(await reasonsOf(to), [])
})

async function complaintOf(t: Test, fields: (of: { path: string; text: string }) => string, extra = {}) {
  const made = await makeDelivered(extra)
  const result = await take(complaintReport(fields(made)))
  t.match(result, { kind: 'complaint', effect: 'complained', delivery: { messageId: made.id } })
  return { ...made, report: complaintReport(fields(made)) }
}

t.test(
  'a complaint suppresses the address permanently, whatever suppressed it before, and is an event, once',
  async (t) => {
    const { to, id, report } = await complaintOf(t, ({ path }) => `Return-Path: <${path}>\r\n`)
    t.match(await lastEvent(id), { type: 'complained', detail: { feedback: 'abuse' } })
    t.strictSame(await reasonsOf(to), ['abuse'])
    t.match(await take(report), { effect: 'none', why: 'repeated' })
    const left = await makeDelivered()
    await service.core.suppressions.add({
      accountId: sender.accountId,
      scope: 'address',
      value: left.to,
      reason: 'unsubscribe',
    })
    await take(complaintReport(`Return-Path: <${left.path}>\r\n`))
    t.strictSame(await reasonsOf(left.to), ['abuse'])
  },
)

t.test('a complaint that leaves out all but the link to unsubscribe finds its delivery', async (t) => {
  const { to } = await complaintOf(t, ({ text }) => `${/^List-Unsubscribe: (?:.|\r\n )*\r\n/m.exec(text)?.[0]}`, {
    settings: { unsubscribe: 1 },
  })
  t.strictSame(await reasonsOf(to), ['abuse'])
})

t.test('a complaint without a mark of ours has no effect', async (t) => {
  const { id } = await makeDelivered()
  t.match(await take(complaintReport('Return-Path: <desk@ship.example>\r\n')), { effect: 'none', why: 'unsigned' })
  t.equal((await lastEvent(id))?.type, 'sent')
})

t.test('an opt-out unsubscribes, and other reports have no effect', async (t) => {
  const left = await makeDelivered()
  t.match(await take(complaintReport(`Return-Path: <${left.path}>\r\n`, { type: 'opt-out' })), {
    effect: 'unsubscribed',
  })
  t.strictSame(await reasonsOf(left.to), ['unsubscribe'])
  t.equal((await lastEvent(left.id))?.type, 'unsubscribed')
  const { path, id } = await makeDelivered()
  for (const [report, why] of [
    [complaintReport(`Return-Path: <${path}>\r\n`, { type: 'not-spam' }), 'not-spam'],
    [complaintReport(`Return-Path: <${path}>\r\n`, { type: 'auth-failure' }), 'auth-failure'],
    [`To: ${path}\r\nAuto-Submitted: auto-replied\r\nSubject: Away\r\n\r\nI am away.\r\n`, 'auto-reply'],
    [`To: ${path}\r\nSubject: Thank you\r\n\r\nSee you at berth 4.\r\n`, 'unrecognised'],
    ['', 'unrecognised'],
  ] as const)
    t.match(await take(report), { code: 0, effect: 'none', why }, why)
  t.equal((await lastEvent(id))?.type, 'sent')
})

t.test('an erased recipient stays erased', async (t) => {
  const { to, id, path } = await makeDelivered()
  await service.sql`update finished_deliveries set recipient_key = 'erased' where message_id = ${id}::uuid`
  t.match(await take(bounceReport(path)), { effect: 'none', why: 'gone' })
  t.match(await take(complaintReport(`Return-Path: <${path}>\r\n`)), { effect: 'none', why: 'gone' })
  t.strictSame(await reasonsOf(to), [])
})

t.test('two reports of the same failure that come together count once', async (t) => {
  const { id, path } = await makeDelivered()
  const raw = Buffer.from(bounceReport(path))
  const results = await Promise.all(
    Array.from({ length: 8 }, () => service.core.returns.take({ raw, recipients: [path] })),
  )
  t.equal(results.filter(({ effect }) => effect === 'bounced').length, 1)
  t.equal((await outbox.story(id)).events.filter(({ type }) => type === 'bounced').length, 1)
})

t.test('as the command of a pipe it reads stdin, and asks to be tried again while there is no database', async (t) => {
  const away = { ...service.env, DATABASE_URL: 'postgres://postrider@127.0.0.1:9/none' }
  t.match(await postriderProcess(away, 'returns', 'take'), { code: 75, stderr: /could not connect to the database/ })
  t.match(await postriderProcess(service.env, 'returns', 'take'), { code: 0, stdout: /^unrecognised: no effect: / })
  t.match(await postrider(service.env, 'returns', 'take', join(folder, 'absent')), { code: 1, stderr: /ENOENT/ })
})
