import t from 'tap'
import { makeQueue, recipients } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { claimDue } from '../../helpers/claim.ts'
import { call, errorText } from '../call.ts'

const HOUR = 3_600_000

async function makeScheduled(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const { service, sender } = queue
  const { sql } = service
  const url = await service.openApi()
  const patch = (id: string, body: Record<string, unknown>, apiKey = sender.apiKey) =>
    call(url, { method: 'PATCH', path: `/v2/messages/${id}`, headers: { api_key: apiKey }, body })
  const rows = async (id: string) =>
    (
      await sql<{ state: string; nextAt: Date; expiresAt: Date }[]>`
        select state, next_at as "nextAt", expires_at as "expiresAt" from delivery_queue
         where message_id = ${id}::uuid order by recipient_no`
    ).map(({ state, nextAt, expiresAt }) => [state, nextAt.toISOString(), (+expiresAt - +nextAt) / HOUR])
  return { ...queue, sql, url, patch, rows }
}

/** The time in so many hours, to the second. */
const inHours = (hours: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + hours * HOUR)

t.test('a scheduled message gets another time until it is due, as the account writes it', async (t) => {
  const { core, sender, accept, patch, rows, sql } = await makeScheduled(t)
  const id = await accept(recipients(2), inHours(1))
  const later = inHours(5)
  const answer = await patch(id, { schedule: later.toISOString() })
  t.match(answer.json?.data, {
    messageId: id.replaceAll('-', ''),
    scheduledAt: later.toISOString(),
    rescheduled: 2,
    others: 0,
  })
  t.strictSame(await rows(id), Array(2).fill(['scheduled', later.toISOString(), 72]))
  t.equal((await core.messages.show(id))?.scheduledAt?.toISOString(), later.toISOString())
  const [entry] = await sql<{ after: unknown }[]>`select after from audit_log where action = 'message.reschedule'`
  t.strictSame(entry?.after, { scheduledAt: later.toISOString(), rescheduled: 2 })

  await core.accounts.settings.change(sender.accountId, { timeZone: 'Asia/Kolkata' }, { keyId: null, address: null })
  const local = new Date(later.getTime() + 5.5 * HOUR).toISOString().slice(0, 19)
  t.match((await patch(id, { schedule: local })).json?.data, { scheduledAt: later.toISOString() }, "the account's zone")
  const elsewhere = new Date(later.getTime() + 9 * HOUR).toISOString().slice(0, 19)
  t.match((await patch(id, { schedule: `${elsewhere}[Asia/Tokyo]` })).json?.data, { scheduledAt: later.toISOString() })
  t.match((await patch(id, { schedule: later.getTime() / 1000 })).json?.data, { scheduledAt: later.toISOString() })
})

t.test('a time that has passed means now, and after that nothing is left to reschedule', async (t) => {
  const { accept, claimAll, register, patch, rows } = await makeScheduled(t)
  const id = await accept(recipients(1), inHours(1))
  await register()
  const before = Date.now()
  t.equal((await patch(id, { schedule: '2020-01-01T00:00:00Z' })).status, 200)
  const [[, nextAt] = []] = await rows(id)
  t.ok(Date.parse(String(nextAt)) >= before - 1000, 'not before the database has it')
  t.equal((await claimAll(await register())).length, 1, 'it is claimed')
  const due = await patch(id, { schedule: inHours(3).toISOString() })
  t.equal(due.status, 409)
  t.match(errorText(due), 'No delivery of the message waits for a scheduled time')
  t.strictSame((await rows(id))[0]?.[0], 'sending', 'and nothing changed')
})

t.test('what is refused changes nothing, and says what is wrong', async (t) => {
  const { service, accept, patch, rows } = await makeScheduled(t)
  const at = inHours(1)
  const id = await accept(recipients(1), at)
  const unchanged = [['scheduled', at.toISOString(), 72]]
  const refused = async (body: Record<string, unknown>, problem: RegExp) => {
    const answer = await patch(id, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(errorText(answer), problem)
    t.strictSame(await rows(id), unchanged)
  }
  await refused({ schedule: 'tomorrow' }, /\[schedule\] is invalid: must be a time like/)
  await refused({ schedule: inHours(31 * 24).toISOString() }, /at most 30 days after the message was accepted/)
  await refused({ schedule: '2026-12-24T09:00:00[Mars/Base]' }, /unknown time zone: \[Mars\/Base\]/)
  await refused({}, /Parameter \[schedule\] not passed/)
  await refused(
    { shedule: at.toISOString() },
    /\[shedule\] is invalid: is unknown to this call; did you mean schedule\?/,
  )
  await refused(
    { schedule: at.toISOString(), recipients: [0] },
    /\[recipients\] is invalid: is unknown to this call, which has/,
  )
  const stranger = await service.makeSender()
  t.equal((await patch(id, { schedule: at.toISOString() }, stranger.apiKey)).status, 404)
  const { secret } = await service.core.auth.createKey({ accountId: stranger.accountId, scopes: ['events'] as const })
  t.equal((await patch(id, { schedule: at.toISOString() }, secret)).status, 403)
})

t.test('a paused batch and a hold outlast the new time', async (t) => {
  const { core, service, sender, sql, patch } = await makeScheduled(t)
  const batchId = await core.batches.create(sender.accountId)
  const by = { keyId: null, address: null }
  const { messageId } = await acceptMessage(service, sender, {
    door: 'v3',
    batchId,
    scheduledAt: inHours(1),
    envelopes: [envelopeTo('a@harbor.example')],
  })
  const at = inHours(6)
  const nextAt = async () => {
    const [row] = await sql<{ next: string; held: string | null }[]>`
      select next_at::text as next, held_next_at::text as held from delivery_queue where message_id = ${messageId}::uuid`
    return { next: row && new Date(row.next), held: row?.held == null ? null : new Date(row.held) }
  }
  await core.batches.hold({ accountId: sender.accountId, id: batchId, by }, 'pause')
  const paused = (await nextAt()).next
  t.equal((await patch(messageId, { schedule: at.toISOString() })).status, 200)
  t.strictSame((await nextAt()).next, paused, 'still paused')
  await core.batches.resume({ accountId: sender.accountId, id: batchId, by })
  t.strictSame((await nextAt()).next, at, 'then at the new time')
  await sql`update delivery_queue set waiting_for = 'hold', held_next_at = next_at, next_at = expires_at`
  const last = inHours(8)
  t.equal((await patch(messageId, { schedule: last.toISOString() })).status, 200)
  t.strictSame(await nextAt(), { next: new Date(last.getTime() + 72 * HOUR), held: last })
})

t.test('of recipients with times of their own, only those who are not due move', async (t) => {
  const { core, service, sender, sql, claimAll, register, patch } = await makeScheduled(t)
  const { messageId } = await acceptMessage(service, sender, {
    door: 'v3',
    scheduledAt: inHours(-1),
    envelopes: [
      envelopeTo('a@harbor.example'),
      { ...envelopeTo('b@harbor.example'), scheduledAt: inHours(2) },
      { ...envelopeTo('c@harbor.example'), scheduledAt: inHours(3) },
    ],
  })
  await claimAll(await register())
  const before = (await core.messages.show(messageId))?.scheduledAt
  const at = inHours(7)
  t.match((await patch(messageId, { schedule: at.toISOString() })).json?.data, { rescheduled: 2, others: 1 })
  t.strictSame(
    (await core.messages.show(messageId))?.scheduledAt,
    before,
    'the time of the message stays that of the first',
  )
  const own = await sql<{ at: string | null; envelope: number | null }[]>`
    select personal->>'scheduledAt' as at, (personal->>'envelope')::int as envelope from delivery_queue
     where message_id = ${messageId}::uuid order by recipient_no`
  t.strictSame(
    [...own].map((one) => one.at),
    [null, at.toISOString(), at.toISOString()],
  )
  t.strictSame(
    [...own].slice(1).map((one) => one.envelope),
    [1, 2],
  )
})

t.test('a delivery is either claimed or rescheduled, never both', async (t) => {
  const { accept, core, register, patch, sql } = await makeScheduled(t)
  const workerId = await register()
  const ids = await Promise.all(Array.from({ length: 12 }, () => accept(recipients(1), inHours(1))))
  // Each becomes due while it is being rescheduled.
  await Promise.all(
    ids.flatMap((id) => [
      sql`update delivery_queue set next_at = service_now() where message_id = ${id}::uuid and worker_id is null`.then(
        () => claimDue(core, { workerId, limit: 1 }),
      ),
      patch(id, { schedule: inHours(9).toISOString() }),
    ]),
  )
  await claimDue(core, { workerId, limit: 100 })
  const rows = await sql<{ state: string; isLater: boolean }[]>`
    select state, next_at > service_now() + interval '1 hour' as "isLater" from delivery_queue`
  t.equal(rows.length, 12)
  for (const { state, isLater } of rows) t.equal(state, isLater ? 'scheduled' : 'sending')
})
