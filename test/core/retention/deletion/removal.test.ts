import { randomBytes } from 'node:crypto'
import { openDatabase } from '@postrider/core'
import t from 'tap'
import { verifyData } from '../../../../packages/core/src/retention/verify-data.ts'
import { moveClock } from '../../../helpers/database.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import { startObjectStorage } from '../../../helpers/object-storage.ts'
import { makeService, type Sender, type TestService } from '../../../helpers/service.ts'
import { openCore } from '../../delivery/queue-of.ts'
import { acceptMessage, submissionOf } from '../../submission.ts'
import { accountTables, closeAccount, insertAnyRow, removeAll, rowsOf } from './deleted.ts'

const OPERATOR = { keyId: null, address: null }

/** Sessions that are ended while parts of a removal work. */
const KILLS = 30

/** Makes messages with all that is stored of them, and suppressions. */
async function fill({ sql }: TestService, { accountId }: Sender, count: number): Promise<void> {
  await sql`
    with made as (
      insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, format, size, parts, recipients, transaction_base)
      select overlay(uuidv7_floor(service_now())::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, ${accountId}, 1, 'v2', service_now(),
             'desk@ship.example', 'Berth 4', 'content', 10, 1, 1, 0
        from generate_series(1, ${count}) n returning id
    ), bodies_made as (
      insert into bodies (message_id, part, encoding, content) select id, 0, 'raw', 'x' from made
    ), finished as (
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, attempt, finished_at)
      select id, 0, ${accountId}, 'delivered', 'lena@harbor.example', 'lena@harbor.example', 'harbor.example', 'to', 1, service_now() from made
    ), tried as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds)
      select id, 0, 1, ${accountId}, 1, 'delivered', service_now(), 5 from made
    ), opened as (
      insert into engagements (message_id, recipient_no, kind, machine, total, hour, in_hour)
      select id, 0, 'opened', false, 1, service_now(), 1 from made
    )
    insert into events (occurred_at, account_id, type, message_id, recipient_no) select service_now(), ${accountId}, 'sent', id, 0 from made`
  await sql`
    insert into suppressions (account_id, scope, value, reason)
    select ${accountId}, 'address', n || '@harbor.example', 'manual' from generate_series(1, ${count}) n`
}

/** Rows that no column says the account of. */
async function others({ sql }: TestService): Promise<unknown> {
  const [row] = await sql`
    select (select count(*)::int from bodies) as bodies, (select count(*)::int from engagements) as engagements,
           (select count(*)::int from dkim_keys) as keys, (select count(*)::int from users) as users`
  return row
}

t.test(
  'workers that lose their connections again and again remove all of an account, and nothing of others',
  async (t) => {
    const service = await makeService(t)
    const { sql, core, env } = service
    const [gone, other] = [await service.makeSender(), await service.makeSender()]
    await fill(service, gone, 1000)
    await acceptMessage(service, other)
    await numberEvents(service)
    const tables = await accountTables(service)
    const kept = await rowsOf(service, tables, other.accountId)
    await closeAccount(service, gone.accountId, 0)
    await moveClock(sql, '6 minutes')
    const workers = ['one', 'two', 'three'].map(() => openCore(t, service, 1))
    const axe = openDatabase({ url: env.DATABASE_URL as string, name: 'axe', connections: 1 })
    t.teardown(() => axe.end())
    const isOver = async () => (await core.retention.deletions.list())[0]?.state === 'done'
    let kills = 0
    let failures = 0
    const work = async (worker: (typeof workers)[number]) => {
      while (!(await isOver())) {
        await worker.retention.deletions.removeSome().catch(() => failures++)
        // What a failed part waits for.
        await axe`update account_deletions set due_at = '-infinity' where due_at > service_now()`
      }
    }
    const kill = async () => {
      while (kills < KILLS && !(await isOver())) {
        const killed = await axe`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'active' and query ~ '^\\s*(delete|with found|update account_deletions)' limit 1`
        kills += killed.count
      }
    }
    await Promise.all([...workers.map(work), kill()])
    t.ok(kills > 0 && failures > 0, `${kills} sessions ended, ${failures} parts failed`)
    t.strictSame(Object.keys(await rowsOf(service, tables, gone.accountId)), ['account_deletions'])
    t.strictSame(await rowsOf(service, tables, other.accountId), kept)
    t.match(await others(service), { bodies: 1, engagements: 0, keys: 1 })
    t.match(await core.retention.deletions.list(), [
      { removed: { messages: 1000, suppressions: 1000, event_pages: /\d+/ } },
    ])
    t.strictSame((await verifyData(sql)).problems, [])
  },
)

t.test('no part removes more than a thousand rows of a table, or two hundred messages', async (t) => {
  const service = await makeService(t)
  const { sql, core } = service
  const gone = await service.makeSender()
  await fill(service, gone, 2500)
  await numberEvents(service)
  await closeAccount(service, gone.accountId, 0)
  await moveClock(sql, '6 minutes')
  const before = new Map<string, number>()
  for (;;) {
    if (!(await core.retention.deletions.removeSome())) break
    const [deletion] = await core.retention.deletions.list()
    for (const [step, removed] of Object.entries(deletion?.removed ?? {})) {
      const part = removed - (before.get(step) ?? 0)
      before.set(step, removed)
      if (part === 0) continue
      // A page of events may have some more (reporting/events/sequencer.ts).
      t.ok(part <= (step === 'messages' ? 200 : step === 'event_pages' ? 5000 : 1000), `${step}: ${part}`)
    }
  }
  t.equal((await core.retention.deletions.list())[0]?.state, 'done')
})

t.test('bodies in object storage go, too', async (t) => {
  const storage = await startObjectStorage(t)
  const service = await makeService(t, storage.settings)
  const [gone, other] = [await service.makeSender(), await service.makeSender()]
  const large = { attachments: [{ fileName: 'photo.jpg', type: 'image/jpeg', content: randomBytes(100_000) }] }
  await acceptMessage(service, gone, large)
  const { messageId } = await acceptMessage(service, other, large)
  await closeAccount(service, gone.accountId, 0)
  await moveClock(service.sql, '6 minutes')
  await removeAll(service)
  while (await service.core.retention.removeSome());
  const keys = [...storage.objects.keys()].filter((key) => !key.endsWith('owner'))
  t.strictSame(
    keys.map((key) => key.slice(-32)),
    [messageId],
  )
})

t.test(
  'subaccounts go with their account; so do users who have no other, but no operator and no member of others',
  async (t) => {
    const service = await makeService(t)
    const { core, sql } = service
    const [gone, other] = [await service.makeSender(), await service.makeSender()]
    const parent = await core.accounts.find(gone.accountId)
    for (const username of ['dock2', 'dock3'])
      await core.subaccounts.create(
        parent as never,
        { username, email: 'd@ship.example', password: undefined, creditType: 'unlimited' },
        OPERATOR,
      )
    const members = []
    for (const name of ['Only', 'Both', 'Operator']) {
      const userId = await core.people.users.create({ name, email: `${name}@people.example` }, OPERATOR)
      await core.people.members.add(gone.accountId, userId, 'owner', OPERATOR)
      members.push(userId)
    }
    await core.people.members.add(other.accountId, members[1] as number, 'owner', OPERATOR)
    await sql`insert into operators (user_id) values (${members[2] as number})`
    await closeAccount(service, gone.accountId, 0)
    await moveClock(sql, '6 minutes')
    await removeAll(service)
    // The account waits for its subaccounts.
    await moveClock(sql, '7 minutes')
    await removeAll(service)
    const rows = await sql<{ name: string }[]>`select name from accounts where state = 'deleted' order by id`
    const [subaccount] = await sql`select min(id) as id from accounts where parent_id = ${gone.accountId}`
    const id = Number(subaccount?.id)
    t.strictSame(
      rows.map(({ name }) => name),
      [gone.accountId, id, id + 1].map((number) => `deleted account ${number}`),
    )
    t.strictSame(
      (await sql<{ name: string }[]>`select name from users order by id`).map(({ name }) => name),
      ['Both', 'Operator'],
    )
    t.match(
      (await core.audit.list(0, { after: 0, limit: 100 }))
        .map(({ action, object }) => `${action} ${object}`)
        .filter((entry) => !entry.startsWith('user')),
      [`account.delete account ${gone.accountId}`, `account.deleted account ${gone.accountId}`],
    )
    const again = await core.accounts.create(gone.accountName)
    t.ok(again.id > id + 1, 'its name is free, its number is not used again')
  },
)

t.test('what a call stores that had begun before the account was closed is removed, too', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const gone = await service.makeSender()
  await acceptMessage(service, gone)
  await numberEvents(service)
  const late = await submissionOf(service, gone)
  await closeAccount(service, gone.accountId, 0)
  await moveClock(sql, '6 minutes')
  while ((await core.retention.deletions.list())[0]?.removed.event_pages === undefined)
    await core.retention.deletions.removeSome()
  await core.messages.accept(late)
  t.equal((await sql`select from messages`).count, 1)
  await removeAll(service)
  await moveClock(sql, '7 minutes')
  await removeAll(service)
  t.equal((await core.retention.deletions.list())[0]?.state, 'done')
  t.strictSame(Object.keys(await rowsOf(service, await accountTables(service), gone.accountId)), ['account_deletions'])
})

t.test('a mail that a worker is delivering is waited for', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const gone = await service.makeSender()
  await acceptMessage(service, gone)
  await sql`update delivery_queue set worker_id = 7, state = 'sending'`
  await closeAccount(service, gone.accountId, 0)
  await moveClock(sql, '6 minutes')
  await removeAll(service)
  t.match(await core.retention.deletions.list(), [{ state: 'removing' }])
  t.equal((await sql`select from messages`).count, 1)
  await sql`update delivery_queue set worker_id = null`
  await moveClock(sql, '7 minutes')
  await removeAll(service)
  t.match(await core.retention.deletions.list(), [{ state: 'done' }])
})

t.test('the returns of subaccounts are removed with those of their account, in one walk', async (t) => {
  const service = await makeService(t)
  const { sql, core } = service
  t.teardown(() => moveClock(sql, '0'))
  const { accountId } = await service.makeSender()
  const { accountId: other } = await service.makeSender()
  const subaccounts = await sql<{ id: number }[]>`
    insert into accounts (name, parent_id, username) select 'dock/' || n, ${accountId}, 'dock' || n from generate_series(1, 5) n returning id`
  for (const account of [accountId, other, ...subaccounts.map(({ id }) => id)])
    await insertAnyRow(service, 'returns', account)
  await closeAccount(service, accountId, 0)
  await moveClock(sql, '6 minutes')
  let minutes = 6
  const walks: number[] = []
  while ((await core.retention.deletions.list())[0]?.state !== 'done') {
    // The account waits for its subaccounts.
    if (!(await core.retention.deletions.removeSome())) await moveClock(sql, `${++minutes} minutes`)
    const [row] = await sql<{ account: number }[]>`
      select account_id as account from account_deletions where step = 'returns' and position is not null`
    if (row) walks.push(row.account)
  }
  t.strictSame([...new Set(walks)], [accountId])
  t.strictSame(
    (await sql`select account_id from returns`).map(({ account_id }) => account_id),
    [other],
  )
})
