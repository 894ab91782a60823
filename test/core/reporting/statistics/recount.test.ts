import { createCore, createLog, openDatabase, type Sql } from '@postrider/core'
import t from 'tap'
import { makeService, type TestService } from '../../../helpers/service.ts'
import { acceptMessage } from '../../submission.ts'
import { countAll, happen } from './happen.ts'
import { independentCounts, keptCounts } from './independent.ts'
import { AFTERWARDS, makeMail, type NewEvent, randomEvents, ZONES } from './mail.ts'

const EVENTS = 100_000

t.test('statistics equal a recount of 100,000 mixed events that were written while others counted', async (t) => {
  const service = await makeService(t)
  const url = service.env.DATABASE_URL as string
  const { accounts, deliveries } = await makeMail(service)
  const open = (name: string, connections: number): Sql => {
    const sql = openDatabase({ url, name, connections })
    t.teardown(() => sql.end({ timeout: 1 }))
    return sql
  }
  const writers = open('writers', 6)
  let writing = true
  let aborted = 0
  let recounted = 0

  const count = async (name: string): Promise<void> => {
    const core = createCore({ sql: open(name, 2), config: service.config, log: createLog('test', 'silent') })
    t.teardown(() => core.readiness.close())
    while (writing) await core.events.sequence().catch(() => aborted++)
  }
  const abort = async (): Promise<void> => {
    // A quick machine is done with a batch sooner.
    for (let longer = 40; writing; longer = aborted === 0 ? Math.max(longer - 2, 2) : 40) {
      await service.sql`
        select pg_terminate_backend(pid) from (
          select pid from pg_stat_activity
           where application_name like 'postrider victim %' and datname = current_database()
             -- In the midst of a batch: a transaction that finds nothing to do is over sooner.
             and xact_start < clock_timestamp() - ${longer}::int * interval '1 millisecond'
           order by xact_start limit 1) one`
      await new Promise((resolve) => setTimeout(resolve, 70))
    }
  }
  const recountBeside = async (): Promise<void> => {
    while (writing) {
      await service.core.stats.recount({ accountId: accounts[1] as number, first: '2025-10-26', last: '2025-10-27' })
      recounted++
    }
  }
  const beside = [count('counter'), count('victim'), abort(), recountBeside()]
  await writeAll(writers, randomEvents(deliveries, EVENTS, accounts[0] as number))
  writing = false
  await Promise.all(beside)
  await countAll(service)

  const [events] = await service.sql`select count(*)::int from events where type <> 'domain'`
  t.ok(events?.count > EVENTS * 0.9, `${events?.count} events`)
  t.ok(aborted > 0, `${aborted} batches were aborted`)
  t.ok(recounted > 0, `a day was counted anew ${recounted} times meanwhile`)
  const kept = await keptCounts(service)
  t.ok(kept.length > 800, `${kept.length} roll-ups`)
  t.same(differences(kept, await independentCounts(service)), [])
  t.equal(new Set(kept.map(({ accountId }) => accountId)).size, ZONES.length)
  const tags = await service.sql`
    select account_id, name from tags except select account_id, name from roll_ups where subject = 'tag'
    union all (select account_id, name from roll_ups where subject = 'tag' except select account_id, name from tags)`
  t.same([...tags], [], 'every tag that is counted is listed')

  await t.test('a recount of each day makes the same of them', async (t) => {
    const [, second = 0, third = 0] = accounts
    const before = await rollUps(service, second)
    await service.sql`
      update roll_ups set sent = sent + 1, delivery_times = null where account_id = ${second} and day = '2025-10-26'`
    await service.sql`delete from roll_ups where account_id = ${second} and day = '2025-10-27' and subject = 'tag'`
    const days: string[] = []
    const span = await service.core.stats.recount({
      accountId: second,
      last: AFTERWARDS,
      onDay: (day) => days.push(day),
    })
    t.equal(span?.last, AFTERWARDS)
    t.equal(days[0], span?.first)
    t.same(await rollUps(service, second), before)

    // Of another time zone too, once all is counted by it.
    await service.sql.unsafe(
      `create or replace function service_now() returns timestamptz language sql stable as 'select timestamptz ''${AFTERWARDS} 12:00Z'''`,
    )
    await service.sql`update accounts set time_zone = 'Pacific/Pago_Pago' where id = ${third}`
    await service.core.stats.recount({ accountId: third })
    t.same(differences(await keptCounts(service), await independentCounts(service)), [])
  })
})

/** In transactions of all sizes, some of which are long or end in nothing. */
async function writeAll(sql: Sql, events: NewEvent[]): Promise<void> {
  const transactions: NewEvent[][] = []
  for (let at = 0; at < events.length; ) {
    const size = 1 + ((at * 7919) % 300)
    transactions.push(events.slice(at, at + size))
    at += size
  }
  const write = async (): Promise<void> => {
    for (let rows = transactions.pop(); rows; rows = transactions.pop()) {
      const [half, rest] = [rows.slice(0, rows.length >> 1), rows.slice(rows.length >> 1)]
      const lost = rows.length % 29 === 0
      await sql
        .begin(async (transaction) => {
          await insert(transaction as unknown as Sql, half)
          if (rows.length % 13 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
          await insert(transaction as unknown as Sql, rest)
          if (lost) throw new Error('lost')
        })
        .catch((error: Error) => {
          if (error.message !== 'lost') throw error
        })
    }
  }
  await Promise.all([write(), write(), write(), write(), write(), write()])
}

async function insert(sql: Sql, events: readonly NewEvent[]): Promise<void> {
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select at, account_id, type, message_id, recipient_no, detail::jsonb
      from unnest(${events.map(({ at }) => at)}::timestamptz[], ${events.map(({ accountId }) => accountId)}::int[],
                         ${events.map(({ type }) => type)}::text[], ${events.map(({ messageId }) => messageId)}::uuid[],
                         ${events.map(({ recipientNo }) => recipientNo)}::int[], ${events.map(({ detail }) => detail)}::text[])
           as e(at, account_id, type, message_id, recipient_no, detail)`
}

/** The first few that are not the same. */
function differences(kept: readonly object[], wanted: readonly object[]): unknown[] {
  const [one, other] = [kept.map((row) => JSON.stringify(row)), wanted.map((row) => JSON.stringify(row))]
  const [inOne, inOther] = [new Set(one), new Set(other)]
  return [
    ...one.filter((row) => !inOther.has(row)).map((row) => `kept: ${row}`),
    ...other.filter((row) => !inOne.has(row)).map((row) => `wanted: ${row}`),
  ].slice(0, 6)
}

async function rollUps({ sql }: TestService, accountId: number): Promise<string[]> {
  const rows = await sql<{ row: string }[]>`
    select r::text as row from roll_ups r where account_id = ${accountId} order by subject, name, day`
  return rows.map(({ row }) => row)
}

t.test('names beyond a day’s thousand are the same ones after a recount', async (t) => {
  const service = await makeService(t)
  const { accountId, ...sender } = await service.makeSender()
  for (let from = 0; from < 1050; from += 50) {
    const tags = Array.from({ length: 50 }, (_, at) => `tag ${(from + at) * 7919}`)
    await acceptMessage(service, { accountId, ...sender }, { tags })
    if (from % 300 === 0) await countAll(service)
  }
  await countAll(service)
  const before = await rollUps(service, accountId)
  t.ok(before.some((row) => row.includes('other tag')))
  await service.core.stats.recount({ accountId })
  t.same(await rollUps(service, accountId), before)
})

t.test('a day of which something is gone is not counted again', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const { accountId } = sender
  const today = new Date().toISOString().slice(0, 10)
  t.equal(await service.core.stats.recount({ accountId: (await service.makeSender()).accountId }), null, 'no events')
  const { messageId } = await acceptMessage(service, sender)
  // Not earlier: on a Monday, eight days ago is in a week that has no partition.
  await happen(service, accountId, { type: 'opened', at: "service_now() - interval '7 days'" })
  await countAll(service)
  const before = await rollUps(service, accountId)

  await service.sql`delete from messages where id = ${messageId}::uuid`
  await t.rejects(service.core.stats.recount({ accountId, first: today }), /some messages of .* have been deleted/)
  await service.sql`delete from events where account_id = ${accountId} and type = 'opened'`
  const week = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10)
  const gone = { accountId, first: week, last: week }
  await t.rejects(service.core.stats.recount(gone), /some events of .* have been deleted/, 'fewer than there were')
  await service.sql`delete from event_pages where account_id = ${accountId} and first_number = 1`
  await t.rejects(service.core.stats.recount(gone), /some events of .* have been deleted/, 'with their page')
  t.same(await rollUps(service, accountId), before, 'nothing changed')
  await t.rejects(service.core.stats.recount({ accountId: 0 }), /account\] is invalid: does not exist/)
  await t.rejects(service.core.stats.recount({ ...gone, last: '2020-01-01' }), /Start date must be less than/)
})
