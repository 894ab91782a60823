import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { countAll, happen } from '../reporting/statistics/happen.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

const service = await makeService(t)
const { sql, core } = service

async function attempt(
  messageId: string,
  accountId: number,
  { no = 1, place = 'google@mta-1', blocked = false } = {},
): Promise<void> {
  await sql`
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, place, blocked)
    values (${messageId}::uuid, 0, ${no}, ${accountId}, 1, 'deferred', service_now(), 5, ${place}, ${blocked ? sql`true` : sql`null`})`
}
const countsOf = (accountId: number) => sql`
  select class, provider, source, domain_id > 0 as "hasDomain", accepted, attempts, delivered, deferred, hard, soft, blocked, late, complained,
         unsubscribed
    from delivery_counts where account_id = ${accountId} order by class, provider, source`
const ZERO = {
  attempts: 0,
  delivered: 0,
  deferred: 0,
  hard: 0,
  soft: 0,
  blocked: 0,
  late: 0,
  complained: 0,
  unsubscribed: 0,
}

t.test('events count by class, provider and source of their attempts, once', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  const { messageId } = await acceptMessage(service, sender, { settings: { class: 'bulk' } })
  await attempt(messageId, accountId)
  await attempt(messageId, accountId, { no: 2, place: 'mx.harbor.example' })
  await happen(
    service,
    accountId,
    { type: 'deferred', messageId, detail: { attempt: 1 } },
    { type: 'sent', messageId, detail: { attempt: 2 } },
    { type: 'complained', messageId },
    { type: 'unsubscribed', messageId },
    { type: 'bounced', messageId, detail: { late: true, class: 'bad-mailbox' } },
  )
  await countAll(service)
  await countAll(service)
  t.strictSame(
    [...(await countsOf(accountId))],
    [
      {
        class: 2,
        provider: '',
        source: '',
        hasDomain: true,
        ...ZERO,
        accepted: 1,
        attempts: 1,
        delivered: 1,
        hard: 1,
        late: 1,
        complained: 1,
        unsubscribed: 1,
      },
      {
        class: 2,
        provider: 'google',
        source: 'mta-1',
        hasDomain: true,
        accepted: 0,
        ...ZERO,
        attempts: 1,
        deferred: 1,
      },
    ],
    'a site that is no provider is one of all others',
  )
  t.match((await core.reputation.show(accountId)).day, { accepted: 1, delivered: 1, hard: 1, soft: 0, complained: 1 })
  const sums = { accepted: 1, delivered: 1, deferred: 1, hard: 1, soft: 0, complained: 1 }
  for (const unit of ['hour', 'day'] as const)
    t.match((await core.reputation.counts(accountId, { unit, count: 3 })).at(-1), sums, `the last ${unit}`)
})

t.test('bounces are hard, soft or blocked by their class', async (t) => {
  const { accountId } = await service.makeSender()
  const messageId = crypto.randomUUID()
  for (const name of ['bad-mailbox', 'moved', 'mailbox-full', 'spam', 'policy'])
    await happen(service, accountId, { type: 'bounced', messageId, detail: { attempt: 1, class: name } })
  await happen(service, accountId, { type: 'expired', messageId, detail: { attempt: 9 } })
  await countAll(service)
  t.match([...(await countsOf(accountId))], [{ class: 1, hasDomain: false, attempts: 6, hard: 2, soft: 4, blocked: 2 }])
})

t.test('deferrals because of a policy count apart, and with all attempts at each provider', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  for (const [at, place] of ['google@mta-1', 'google@mta-1', 'google@mta-2', 'mx.harbor.example'].entries()) {
    const { messageId } = await acceptMessage(service, sender)
    await attempt(messageId, accountId, { place, blocked: at > 0 })
    await happen(service, accountId, { type: 'deferred', messageId, detail: { attempt: 1 } })
    await happen(service, accountId, { type: 'sent', messageId, detail: { attempt: 2 } })
  }
  await countAll(service)
  const rows = await sql`
    select provider, source, deferred, blocked_deferred as "blockedDeferred" from delivery_counts
     where account_id = ${accountId} and deferred > 0 order by provider, source`
  t.strictSame(
    [...rows],
    [
      { provider: '', source: '', deferred: 1, blockedDeferred: 1 },
      { provider: 'google', source: 'mta-1', deferred: 2, blockedDeferred: 1 },
      { provider: 'google', source: 'mta-2', deferred: 1, blockedDeferred: 1 },
    ],
  )
  const sums = await sql`
    select provider, attempts, blocked_deferred as "blockedDeferred" from provider_counts where account_id = ${accountId}`
  t.strictSame([...sums], [{ provider: 'google', attempts: 3, blockedDeferred: 2 }])
})

t.test('the counts are those of all deliveries, whatever the order and number of batches', async (t) => {
  const sender = await service.makeSender()
  const envelopes = Array.from({ length: 40 }, (_, at) => envelopeTo(`n${at}@harbor.example`))
  for (let round = 0; round < 5; round++) {
    await acceptMessage(service, sender, { envelopes })
    if (round % 2 === 0) await countAll(service)
  }
  await Promise.all(Array.from({ length: 4 }, () => countAll(service)))
  await countAll(service)
  t.match([...(await countsOf(sender.accountId))], [{ accepted: 200 }])
})

t.test('after two weeks hours become days, and after 400 days they are deleted', async (t) => {
  const { accountId } = await service.makeSender()
  for (const at of ['04:00', '05:00', '23:00'])
    await sql`
      insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft,
             blocked, late, complained, unsubscribed)
      values (${accountId}, ${`2026-03-04 ${at}Z`}, 0, 1, '', '', 0, 1, 2, 0, 0, 0, 0, 0, 0, 0)`
  const rows = () => sql`select hour, delivered from delivery_counts where account_id = ${accountId} order by hour`
  const [{ now = new Date() } = {}] = await sql<{ now: Date }[]>`select service_now() as now`
  const daysTo = (date: string) => (Date.parse(date) - now.getTime()) / 86_400_000
  const fold = async () => {
    while ((await core.reputation.forgetOld()) > 0);
  }
  t.equal((await rows()).length, 3)
  await moveClock(sql, `${daysTo('2026-03-19T12:00Z')} days`)
  await fold()
  t.strictSame([...(await rows())], [{ hour: new Date('2026-03-04T00:00Z'), delivered: 6 }])
  await fold()
  t.equal((await rows()).length, 1)
  await moveClock(sql, `${daysTo('2027-04-12T12:00Z')} days`)
  await fold()
  t.equal((await rows()).length, 0)
})
