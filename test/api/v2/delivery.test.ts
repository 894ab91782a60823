import { createCore, createLog } from '@postrider/core'
import t from 'tap'
import { BOUNCED, DEFERRED, DELIVERED, DROPPED, INDETERMINATE, recipients } from '../../core/delivery/queue-of.ts'
import { acceptMessage } from '../../core/submission.ts'
import { startInternet } from '../../delivery/outbox.ts'
import { parkedAt } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { until } from '../../helpers/until.ts'
import { call } from '../call.ts'
import { MINUTE, makeWhy, PLACE, type Row } from './why.ts'

const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE)

t.test('scheduled: the sender requested a later time', async (t) => {
  const { accept, why } = await makeWhy(t)
  const at = minutesFromNow(90)
  const row = await why(await accept(['lena@harbor.example'], at))
  t.match(row, { state: 'scheduled', waitingFor: 'scheduled', nextAt: at.toISOString(), ahead: null, attempts: [] })
  t.match(row.text, /^It is scheduled for .*\d\d:\d\d UTC\.$/)
  t.same(row.expected, { p50: row.nextAt, p90: null, basis: 'the requested time' })
})

t.test('batch-paused: its batch was paused before it was due', async (t) => {
  const { service, sender, core, why } = await makeWhy(t)
  const { accountId } = sender
  const batchId = await core.batches.create(accountId)
  const { messageId } = await acceptMessage(service, sender, { batchId, scheduledAt: minutesFromNow(60) })
  t.equal((await why(messageId)).waitingFor, 'scheduled')
  await core.batches.hold({ accountId, id: batchId, by: { keyId: null, address: null } }, 'pause')
  const row = await why(messageId)
  t.match(row, { waitingFor: 'batch-paused', nextAt: null, expected: null })
  t.match(row.text, `Its batch ${batchId} is paused.`)
})

t.test('retry: a server rejected it temporarily', async (t) => {
  const { tried, why } = await makeWhy(t)
  const row = await why(await tried(DEFERRED))
  t.match(row, { state: 'deferred', waitingFor: 'retry', expected: { p50: row.nextAt, basis: 'next attempt' } })
  t.match(
    row.text,
    /^mx1\.harbor\.example rejected it temporarily \(451 4\.7\.1 greylisted\)\. The next attempt is planned for/,
  )
  t.ok(Date.parse(row.nextAt ?? '') > Date.now())
  t.match(row.attempts, [{ attempt: 1, outcome: 'deferred', stage: 'rcpt', code: 451, reply: 'greylisted' }])
  t.ok(Date.parse(row.deadline ?? '') > Date.now() + 71 * 60 * MINUTE)
})

t.test('indeterminate: the connection was lost when the server may have accepted it', async (t) => {
  const { tried, why, service } = await makeWhy(t)
  const id = await tried(INDETERMINATE)
  const row = await why(id)
  t.match(row, { state: 'deferred', waitingFor: 'indeterminate', attempts: [{ indeterminate: true }] })
  t.ok(Date.parse(row.nextAt ?? '') > Date.now() + 4.9 * MINUTE)
  t.match(row.text, 'so mx1.harbor.example may have accepted it')
  await moveClock(service.sql, '6 minutes')
  t.equal((await why(id)).waitingFor, 'moment', 'after that it is due')
})

t.test('dns: a real worker could not look up the domain', async (t) => {
  const internet = await startInternet(t)
  const url = `http://127.0.0.1:${internet.service.config.apiPort}`
  const id = await internet.send(`lena@${internet.domain({ fails: 'servfail' })}`)
  await internet.attempted(id)
  const headers = { api_key: internet.sender.apiKey }
  const answer = await call(url, { path: '/v2/delivery', headers, body: { messageid: id } })
  const [row] = (answer.json?.data ?? []) as Row[]
  t.match(row, { state: 'deferred', waitingFor: 'dns', attempts: [{ stage: 'mx', enhanced: '4.4.3' }] })
  t.match(row?.text, /^The mail servers of d1\.example could not be found \(451 4\.4\.3 DNS lookup failed/)
})

t.test('provider-pause: its destination is paused now, whatever it was parked for', async (t) => {
  const { parked, pause, why, sender, service } = await makeWhy(t)
  const id = await parked('connections')
  const stranger = await service.makeSender()
  await pause(stranger.accountId, 'yahoo-other')
  t.equal((await why(id)).waitingFor, 'connections', 'a pause of the mail of another account')
  await pause(null)
  const row = await why(id)
  t.match(row, { state: 'queued', waitingFor: 'provider-pause', place: PLACE, ahead: 0, attempts: [] })
  t.match(
    row.text,
    /^The provider yahoo requested less mail \(rule yahoo-tss04, since \d\d:\d\d UTC\): delivery there is paused until .*UTC\. One delivery is tried every five minutes\.$/,
  )
  t.ok(Math.abs(Date.parse(row.nextAt ?? '') - Date.now() - 120 * MINUTE) < MINUTE)
  t.same(row.expected, { p50: row.nextAt, p90: null, basis: 'end of the pause' })
  t.ok(Math.abs(Date.parse(row.since) - Date.now()) < MINUTE)

  await pause(sender.accountId, 'yahoo-own', 86_400 * 4)
  const own = await why(id)
  t.match(own.text, /rule yahoo-own.*this account's mail.* Reply: 421 4\.7\.0 \[TSS04\] deferred/, 'the longest pause')
  t.match(own.text, /It expires before that, at/)
  t.ok(row.attempts.length === 0)
})

t.test(
  'provider-pause: where most mail is refused for its sender, that is said, with the reply if it is to its own mail',
  async (t) => {
    const { parked, core, why, sender } = await makeWhy(t)
    const id = await parked('pause')
    const reason = '22 of 24 messages refused within 10 minutes: 550 5.7.1 Service refused'
    const pause = (accountId: number | null, lasts: number) =>
      core.deliveries.limits.set({
        place: PLACE,
        accountId,
        setting: 'pause',
        value: null,
        seconds: null,
        rule: 'refused',
        lasts,
        reason,
      })
    await pause(null, 14_400)
    const all = await why(id)
    t.match(all, { state: 'queued', waitingFor: 'provider-pause', place: PLACE })
    t.match(
      all.text,
      /^The provider yahoo refused mail of this service \(rule refused, since .* UTC\): delivery there is paused until .* UTC\. One delivery is tried from time to time\.$/,
      'the reply may be to the mail of another account',
    )
    t.match(
      (await core.messages.why({ messageId: id }))?.deliveries[0]?.text,
      new RegExp(`from time to time\\. Reason: ${reason}$`),
      'the operator sees it',
    )
    await pause(sender.accountId, 20_000)
    t.match(
      (await why(id)).text,
      /^The provider yahoo refused this account's mail \(rule refused, .*: delivery of this account's mail there is paused until .*\. Reason: 22 of 24 messages refused within 10 minutes: 550 5\.7\.1 Service refused$/,
    )
  },
)

t.test('provider-rate: the rate of its destination is used up', async (t) => {
  const { parked, why } = await makeWhy(t)
  const id = await parked('rate')
  await parked('rate')
  const row = await why(id)
  t.match(row, { state: 'queued', waitingFor: 'provider-rate', place: PLACE, nextAt: null })
  t.match(row.expected, { p50: null, p90: null, basis: /^no estimate: / })
  t.match(row.text, /^The rate that the provider yahoo allows is used up\./)
})

t.test('connections: those to its destination are in use, with what is ahead of it there', async (t) => {
  const { accept, register, claimAll, core, service, why, rows, sender } = await makeWhy(t)
  const workerId = await register()
  const place = 'mx1.harbor.example'
  const park = async () =>
    core.deliveries.park(workerId, parkedAt(await claimAll(workerId), { place, waitingFor: 'connections' }))
  const id = await accept(recipients(5))
  await park()
  const row = await why(id)
  t.match(row, { waitingFor: 'connections', place })
  t.match(row.text, /^All connections that the mail servers mx1\.harbor\.example allows? are in use\./)
  const ahead = async () => (await rows(`messageid=${id}`)).map((one) => Number(one.ahead)).sort()
  t.same(await ahead(), [0, 1, 2, 3, 4], 'in the order in which they are claimed')
  const other = await service.makeSender()
  await acceptMessage(service, other, {})
  await park()
  t.same(await ahead(), [0, 1, 2, 3, 4], 'other accounts take turns')
  await acceptMessage(service, other, { settings: { class: 'urgent' } })
  await park()
  t.same(await ahead(), [1, 2, 3, 4, 5], 'urgent mail goes first')
  await acceptMessage(service, sender, { settings: { class: 'bulk' } })
  await park()
  t.same(await ahead(), [1, 2, 3, 4, 5], 'and bulk mail is in another flow')
})

t.test('fair-share: it is due, and other mail is ahead', async (t) => {
  const { accept, register, why, rows, service, core, claimAll } = await makeWhy(t)
  const workerId = await register()
  const first = await accept(['lena@harbor.example'])
  const id = await accept(['mara@harbor.example'])
  t.match(await why(first), { waitingFor: 'moment', ahead: 0, expected: null })
  const row = await why(id)
  t.match(row, { state: 'queued', waitingFor: 'fair-share', ahead: 1, nextAt: null })
  t.match(row.text, /^It is due\. 1 delivery is ahead of it\./)
  t.match(row.expected, { p50: null, basis: /^no estimate: fewer than 20 deliveries/ })
  t.same(
    (await rows(`messageid=${await accept(recipients(3))}`)).map(({ ahead }) => ahead),
    [2, 3, 4],
  )

  const stranger = await service.makeSender()
  const { messageId } = await acceptMessage(service, stranger, {})
  t.match(await why(messageId, stranger), { waitingFor: 'fair-share', ahead: 0, expected: null }, 'behind other flows')

  await accept(recipients(25))
  const claimed = await claimAll(workerId)
  await core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: DELIVERED })))
  const behind = [await accept(recipients(10)), await accept(['nils@harbor.example'])] as const
  const { ahead, expected } = await why(behind[1])
  t.equal(ahead, 10)
  t.match(expected, {
    p90: null,
    basis: '10 are ahead, and 30 deliveries of the account were tried within the last 300 s',
  })
  t.ok(Math.abs(Date.parse(expected?.p50 ?? '') - Date.now() - 100_000) < 30_000, 'a third of five minutes')
})

t.test('no-worker: it is due, parked or claimed, and no worker is alive', async (t) => {
  const { accept, register, claimAll, core, why, service } = await makeWhy(t)
  const id = await accept(['lena@harbor.example'])
  t.match(await why(id), { state: 'queued', waitingFor: 'no-worker', text: /^No delivery worker is running/ })
  const leases = createCore({ sql: service.sql, config: service.config, log: createLog('test', 'silent') })
  t.teardown(() => leases.readiness.close())
  const lease = await leases.deliveries.register({ host: 'other.example', pid: 1 })
  t.equal((await why(id)).waitingFor, 'moment')
  await claimAll(lease.workerId)
  t.match(await why(id), { state: 'sending', waitingFor: 'moment', text: 'A worker is trying to deliver it.' })
  await lease.abandon()
  const died = await until('the lock to be free', async () => {
    const row = await why(id)
    return row.waitingFor === 'no-worker' ? row : undefined
  })
  t.equal(died.state, 'sending')
  const workerId = await register()
  t.match(await why(id), { waitingFor: 'moment', text: /^The worker that was trying to deliver it has stopped/ })
  const parked = await accept(['mara@harbor.example'])
  await core.deliveries.park(workerId, parkedAt(await claimAll(workerId), { place: PLACE, waitingFor: 'rate' }))
  t.equal((await why(parked)).waitingFor, 'provider-rate')
})

t.test('moment: the message was sent and the reply is awaited', async (t) => {
  const { accept, register, claimAll, core, why } = await makeWhy(t)
  const id = await accept(['lena@harbor.example'])
  const workerId = await register()
  const ends = (await claimAll(workerId)).map((one) => ({ ...one, workerId, host: 'mx1.harbor.example', domainId: 1 }))
  await core.deliveries.recordEndOfData(ends)
  const row = await why(id)
  t.match(row, { state: 'sending', waitingFor: 'moment', nextAt: null, text: /^The message was sent at .* awaited\.$/ })
  t.ok(Math.abs(Date.parse(row.since) - Date.now()) < MINUTE)
})

t.test('set-aside: two workers died while they built it alone', async (t) => {
  const { accept, claimAll, core, why, service } = await makeWhy(t)
  const id = await accept(['lena@harbor.example'])
  const ahead = { ms: 0 }
  const clock = { now: () => Date.now(), monotonic: () => performance.now() + ahead.ms }
  const observer = createCore({ sql: service.sql, config: service.config, log: createLog('test', 'silent'), clock })
  t.teardown(() => observer.readiness.close())
  const watch = observer.deliveries.watchWorkers()
  for (let loss = 1; loss <= 2; loss++) {
    const lease = await observer.deliveries.register({ host: 'worker.example', pid: 1 })
    const [one] = await claimAll(lease.workerId)
    await core.deliveries.noteAlone(lease.workerId, one, undefined)
    await lease.abandon()
    await watch.takeOver()
    ahead.ms += 61_000
    await watch.takeOver()
    if (loss === 1)
      t.match(await why(id), { waitingFor: 'retry', text: /^The worker that was trying .* stopped\. The next/ })
    await moveClock(service.sql, `${loss * 6} minutes`)
  }
  const row = await why(id)
  t.match(row, { waitingFor: 'set-aside', nextAt: null, text: /workers died while building this message/ })
  t.match(row.attempts, [{ outcome: 'abandoned' }, { outcome: 'abandoned' }])
})

t.test('finished deliveries have their result and its time, and wait for nothing', async (t) => {
  const { accept, register, claimAll, core, service, tried, why } = await makeWhy(t)
  const finished = { waitingFor: null, nextAt: null, expected: null, ahead: null, deadline: null, place: null }
  for (const [outcome, state, text] of [
    [DELIVERED, 'delivered', /^Delivered at \d\d:\d\d UTC: mx1\.harbor\.example accepted it: 250 2\.0\.0 taken$/],
    [DROPPED, 'dropped', /^Dropped at .* without being sent: the recipient unsubscribed$/],
    [
      BOUNCED,
      'bounced',
      /^Bounced at .*: mx1\.harbor\.example rejected it permanently: 550 5\.1\.1 no such user here$/,
    ],
  ] as const) {
    const row = await why(await tried(outcome))
    t.match(row, { ...finished, state, text })
    t.ok(Math.abs(Date.parse(row.since) - Date.now()) < MINUTE)
  }
  const id = await accept(['mara@harbor.example'])
  const workerId = await register()
  const claimed = await claimAll(workerId)
  await moveClock(service.sql, '73 hours')
  await core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome: DEFERRED })))
  const text = /^Expired at .* before its deadline\. The last attempt: 451 4\.7\.1 greylisted$/
  t.match(await why(id), { ...finished, state: 'expired', text })
})
