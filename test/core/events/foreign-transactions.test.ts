import postgres from 'postgres'
import t, { type Test } from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage } from '../submission.ts'

/* What holds up the numbers of events: transactions of this service, and those of other programs that have written events. */

const service = await makeService(t)
const { core, sql } = service
let hours = 0

interface Open {
  /** What its transaction does next, or `commit`. */
  readonly say: (statement: string) => Promise<unknown>
}

/** A session with this name that is in a transaction, which has written something. */
async function leaveOpen(t: Test, name: string): Promise<Open> {
  const other = postgres(service.env.DATABASE_URL as string, { max: 1, connection: { application_name: name } })
  t.teardown(() => other.end({ timeout: 1 }))
  const session = await other.reserve()
  for (const statement of ['begin', `insert into instance (name, value) values ('${name}', 'in work')`])
    await session.unsafe(statement)
  return { say: (statement) => session.unsafe(statement) }
}

const last = (accountId: number) => core.events.lastNumber(accountId)
/** As the loop does, once. */
const sequence = () => core.events.sequence()
const later = () => moveClock(sql, `${++hours} hours`)

t.test('a transaction that another program left open holds up no events, once it is some seconds old', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const before = await last(sender.accountId)
  await leaveOpen(t, 'repair by hand')
  await acceptMessage(service, sender)
  await sequence()
  t.equal(await last(sender.accountId), before, 'it may be about to end')
  await later()
  await sequence()
  t.ok((await last(sender.accountId)) > before)
})

t.test('one that has written events is waited for, and none of them is passed over', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const before = await last(sender.accountId)
  const other = await leaveOpen(t, 'another repair')
  await other.say(`
    insert into events (occurred_at, account_id, type) values (service_now(), ${sender.accountId}, 'domain')`)
  await acceptMessage(service, sender)
  await later()
  await sequence()
  t.equal(await last(sender.accountId), before)
  await other.say('commit')
  const count = await numberEvents(service)
  t.ok(count >= 2)
  t.equal(await last(sender.accountId), before + count)
})

t.test(
  'one that writes events after later ones were numbered without it is told so, and can begin again',
  async (t) => {
    const sender = await service.makeSender()
    await numberEvents(service)
    const other = await leaveOpen(t, 'late repair')
    await later()
    await acceptMessage(service, sender)
    await sequence()
    const before = await last(sender.accountId)
    const write = `insert into events (occurred_at, account_id, type) values (service_now(), ${sender.accountId}, 'domain')`
    await t.rejects(other.say(write), /too old to write events/)
    for (const statement of ['rollback', 'begin', write, 'commit']) await other.say(statement)
    await numberEvents(service)
    t.equal(await last(sender.accountId), before + 1)
  },
)

t.test('a transaction of this service is waited for, since it may write events yet', async (t) => {
  const sender = await service.makeSender()
  await numberEvents(service)
  const before = await last(sender.accountId)
  const own = await leaveOpen(t, 'postrider slow v107')
  await acceptMessage(service, sender)
  await later()
  await sequence()
  t.equal(await last(sender.accountId), before)
  await own.say('rollback')
  await numberEvents(service)
  t.ok((await last(sender.accountId)) > before)
})
