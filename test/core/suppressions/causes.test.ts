import t from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { bounceReport, complaintReport } from '../../delivery/reports.ts'
import { moveClock } from '../../helpers/database.ts'
import { erase } from '../../helpers/erase.ts'
import { BOUNCED, DELIVERED, makeQueue } from '../delivery/queue-of.ts'

const queue = await makeQueue(t)
const { core, service, sender, accept, claimAll } = queue
const { accountId } = sender
const workerId = await queue.register()
const base = await service.openApi()
let names = 0

/** A delivery with this outcome. */
async function makeFinished(outcome = DELIVERED, to = `lena${++names}@harbor.example`) {
  const id = await accept([to])
  const claimed = await claimAll(workerId)
  await core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome })))
  const returnPath = `${core.deliveries.returnPath({ messageId: id, recipientNo: 0 }, core.clock.now())}@relay.test`
  return { to, id: id.replaceAll('-', ''), uuid: id, returnPath }
}

const take = async (raw: string, to: string) => {
  const { effect } = await core.returns.take({ raw: Buffer.from(raw), recipients: [to] })
  return effect
}
const causesOf = async (to: string) => (await core.suppressions.holding(accountId, to)).map(({ cause }) => cause)
const returnOf = async (uuid: string) =>
  (await core.returns.list({ messageId: uuid, limit: 10 })).find(({ effect }) => effect !== 'none')?.id

t.test('an entry of a hard bounce has its class and delivery', async (t) => {
  const { to, id } = await makeFinished(BOUNCED)
  t.strictSame(await causesOf(to), [
    { rule: 'hard-bounce', class: 'bad-mailbox', messageId: id, recipientNo: 0, returnId: null },
  ])
})

t.test('an entry of soft bounces has the class and delivery of the last one', async (t) => {
  const to = 'full@harbor.example'
  const full = { ...BOUNCED, reply: { code: 552, enhanced: '5.2.2', text: '5.2.2 mailbox full' } } as typeof BOUNCED
  const ids: string[] = []
  for (const day of [0, 1, 2]) {
    await moveClock(service.sql, `${day} days`)
    ids.push((await makeFinished(full, to)).id)
  }
  await moveClock(service.sql, '0 days')
  t.match(await causesOf(to), [{ rule: 'soft-bounces', class: 'mailbox-full', messageId: ids[2], returnId: null }])
})

t.test('entries of a report that came back have the report', async (t) => {
  const bounced = await makeFinished()
  t.equal(await take(bounceReport(bounced.returnPath), bounced.returnPath), 'bounced')
  const complained = await makeFinished()
  const complaint = complaintReport(`Return-Path: <${complained.returnPath}>\r\n`, { type: 'fraud' })
  t.equal(await take(complaint, 'fbl@relay.test'), 'complained')
  const optedOut = await makeFinished()
  const optOut = complaintReport(`Return-Path: <${optedOut.returnPath}>\r\n`, { type: 'opt-out' })
  t.equal(await take(optOut, 'fbl@relay.test'), 'unsubscribed')
  for (const [{ to, id, uuid }, rule, of] of [
    [bounced, 'hard-bounce', 'bad-mailbox'],
    [complained, 'complaint', 'fraud'],
    [optedOut, 'opt-out', null],
  ] as const) {
    const returnId = await returnOf(uuid)
    t.ok(returnId)
    t.strictSame(await causesOf(to), [{ rule, class: of, messageId: id, recipientNo: 0, returnId }])
  }
})

t.test('an entry of the link to unsubscribe has the delivery, also if it replaces another one', async (t) => {
  const { to, id, uuid } = await makeFinished(BOUNCED)
  const target = {
    kind: 'unsubscribe',
    accountId,
    messageId: uuid,
    recipientNo: 0,
    group: 0,
    link: 0,
    url: '',
  } as const
  await core.tracking.unsubscribe(target, { method: 'POST', address: '192.0.2.7', headers: {} })
  t.strictSame(await causesOf(to), [
    { rule: 'unsubscribe', class: null, messageId: id, recipientNo: 0, returnId: null },
  ])
})

t.test('an unsubscribe that a complaint replaced is back when the spam report is removed', async (t) => {
  const { to, returnPath } = await makeFinished()
  const since = async () => (await core.suppressions.holding(accountId, to)).map(({ reason, since }) => [reason, since])
  await core.suppressions.addAll({ accountId, emails: [to], reason: 'unsubscribe' })
  const before = await since()
  const complaint = complaintReport(`Return-Path: <${returnPath}>\r\n`, { type: 'abuse' })
  t.equal(await take(complaint, 'fbl@relay.test'), 'complained')
  t.match(await since(), [['abuse']])
  const headers = { authorization: `Bearer ${sender.apiKey}` }
  const remove = (list: string) => fetch(`${base}/v3/suppression/${list}/${to}`, { method: 'DELETE', headers })
  t.equal((await remove('spam_reports')).status, 204)
  t.strictSame(await since(), before)
  t.strictSame(await causesOf(to), [null])
  t.equal((await remove('spam_reports')).status, 404)
  t.equal(await core.suppressions.removeAll({ accountId, emails: [to] }), 1)
  t.strictSame(await since(), [])
})

for (const [how, unsubscribe] of [
  [
    'by the link',
    ({ uuid }: { uuid: string }) =>
      core.tracking.unsubscribe(
        { kind: 'unsubscribe', accountId, messageId: uuid, recipientNo: 0, group: 0, link: 0, url: '' },
        { method: 'POST', address: '192.0.2.7', headers: {} },
      ),
  ],
  [
    'by a report',
    ({ returnPath }: { returnPath: string }) =>
      take(complaintReport(`Return-Path: <${returnPath}>\r\n`, { type: 'opt-out' }), 'fbl@relay.test'),
  ],
  [
    'by the sender',
    ({ to }: { to: string }) => core.suppressions.addAll({ accountId, emails: [to], reason: 'unsubscribe' }),
  ],
  [
    'by an import',
    ({ to }: { to: string }) =>
      fetch(`${base}/v2/suppression/import`, {
        method: 'POST',
        headers: { api_key: sender.apiKey, 'content-type': 'text/csv' },
        body: `email,reason\n${to},unsubscribe\n`,
      }),
  ],
] as const) {
  t.test(`who complained and then unsubscribed ${how} is unsubscribed when the spam report is removed`, async (t) => {
    const made = await makeFinished()
    const { to, uuid, returnPath } = made
    const reasons = async () => (await core.suppressions.holding(accountId, to)).map(({ reason }) => reason)
    await take(complaintReport(`Return-Path: <${returnPath}>\r\n`, { type: 'abuse' }), 'fbl@relay.test')
    await unsubscribe(made)
    await unsubscribe(made)
    t.strictSame(await reasons(), ['abuse'])
    const events = await service.sql`select from events where message_id = ${uuid} and type = 'unsubscribed'`
    t.equal(events.length, ['by the link', 'by a report'].includes(how) ? 1 : 0)
    const headers = { authorization: `Bearer ${sender.apiKey}` }
    const remove = () => fetch(`${base}/v3/suppression/spam_reports/${to}`, { method: 'DELETE', headers })
    t.equal((await remove()).status, 204)
    t.strictSame(await reasons(), ['unsubscribe'])
    t.equal((await remove()).status, 404)
  })
}

t.test('of an import with both for one address, both are kept', async (t) => {
  const to = 'both@harbor.example'
  await service.sql`insert into suppressions (account_id, scope, value, reason) values (${accountId}, 'address', 'bounced@harbor.example', 'hardbounce')`
  const body = `email,reason\n${to},unsubscribe\n${to},abuse\n${to},manual\nbounced@harbor.example,abuse\nbounced@harbor.example,unsubscribe\n`
  const imported = await fetch(`${base}/v2/suppression/import`, {
    method: 'POST',
    headers: { api_key: sender.apiKey, 'content-type': 'text/csv' },
    body,
  })
  t.match(await imported.json(), { data: { rows: 5, added: 1, known: 4 } })
  const reasons = async (email: string) =>
    (await core.suppressions.holding(accountId, email)).map(({ reason }) => reason)
  t.strictSame(await reasons(to), ['abuse'])
  await core.suppressions.removeAll({ accountId, emails: [to, 'bounced@harbor.example'], reasons: ['abuse'] })
  t.strictSame(await reasons(to), ['unsubscribe'])
  t.strictSame(await reasons('bounced@harbor.example'), ['unsubscribe'])
})

t.test('an entry that was added by hand has no cause, and a bounce does not change it', async (t) => {
  const { to, returnPath } = await makeFinished()
  await core.suppressions.addAll({ accountId, emails: [to] })
  t.equal(await take(bounceReport(returnPath), returnPath), 'bounced')
  t.strictSame(await causesOf(to), [null])
})

t.test('the cause is listed, and shown with the address and with the message', async (t) => {
  const { to, id, uuid, returnPath } = await makeFinished()
  await take(bounceReport(returnPath), returnPath)
  const cause = {
    rule: 'hard-bounce',
    class: 'bad-mailbox',
    messageId: id,
    recipientNo: 0,
    returnId: await returnOf(uuid),
  }
  const list = ['suppression', 'list', '--account', String(accountId), '--email', to] as const
  t.match(await answered(service.env, ...list), [{ value: to, cause }])
  t.match((await postrider(service.env, ...list)).stdout, /hardbounce +\S+ +hard bounce, bad-mailbox$/m)
  const show = ['suppression', 'show', '--account', String(accountId), '--email', to] as const
  t.match(await answered(service.env, ...show), [{ value: to, global: false, cause }])
  const source = `message ${id}, recipient 0, return ${cause.returnId}$`
  t.match((await postrider(service.env, ...show)).stdout, new RegExp(` hard bounce, bad-mailbox +${source}`, 'm'))
  t.match(await answered(service.env, 'message', 'show', id), { suppressions: [{ value: to, cause }] })
  const { stdout } = await postrider(service.env, 'message', 'show', id)
  t.match(stdout, / 0 +suppressed: hardbounce +hard bounce, bad-mailbox$/m)
  await core.suppressions.removeAll({ accountId, emails: [to] })
  t.match(await answered(service.env, 'message', 'show', id), { suppressions: [] })
  t.match(await postrider(service.env, ...show), { code: 0, stdout: `${to} is not suppressed\n` })
})

t.test(
  'v2 has the cause of an entry without the report, in the list, the check and the export of a person',
  async (t) => {
    const { to, id, returnPath } = await makeFinished()
    await take(bounceReport(returnPath), returnPath)
    const ask = async (path: string, email: string) => {
      const headers = { api_key: sender.apiKey, 'content-type': 'application/json' }
      const response = await fetch(`${base}/v2/${path}`, { method: 'POST', headers, body: JSON.stringify({ email }) })
      return ((await response.json()) as { data: Readonly<Record<string, unknown>> }).data
    }
    const cause = { rule: 'hard-bounce', class: 'bad-mailbox', messageId: id }
    t.match(await ask('getSuppression', to), [{ cause }])
    t.match(await ask('suppression/check', to), { heldBy: [{ cause }] })
    t.match(await ask('gdpr/export', to), { suppression: [{ cause }] })
    t.notMatch(JSON.stringify(await ask('suppression/check', to)), 'eturn')
    await core.suppressions.addAll({ accountId, emails: ['manual@harbor.example'] })
    t.notMatch(JSON.stringify(await ask('getSuppression', 'manual@harbor.example')), 'cause')
  },
)

t.test('an erasure of the recipient erases the cause', async (t) => {
  const { to, uuid, returnPath } = await makeFinished()
  await take(bounceReport(returnPath), returnPath)
  await erase(core, accountId, [to])
  t.match(await core.suppressions.holding(accountId, to), [{ reason: 'hardbounce', cause: null }])
  t.strictSame([...(await service.sql`select 1 from suppressions where message_id = ${uuid}::uuid`)], [])
})
