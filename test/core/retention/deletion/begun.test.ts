import { type Account, openDatabase, ServiceError, type WebhookSettings } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../../helpers/database.ts'
import { makeService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { accountTables, closeAccount, insertAnyRow, removeAll, rowsOf } from './deleted.ts'

const service = await makeService(t)
const { core, sql, env } = service

t.test('once a removal has begun, nothing is added to the account, by the operator neither', async (t) => {
  const { accountId } = await service.makeSender()
  const account = (await core.accounts.find(accountId)) as Account
  await closeAccount(service, accountId, 0)
  await moveClock(sql, '6 minutes')
  t.teardown(() => moveClock(sql, '0'))
  const webhook: WebhookSettings = {
    url: 'https://harbor.example/hook',
    events: ['sent'],
    names: null,
    format: 'v2',
    asText: false,
    abuse: false,
    eventIds: false,
    headers: {},
    enabled: false,
    label: '',
    signed: false,
  }
  const subaccount = {
    username: 'dock2',
    email: 'd@ship.example',
    password: undefined,
    creditType: 'unlimited' as const,
  }
  await core.sources.addPool('own', {})
  await core.sources.add({ name: 'out1', address: '192.0.2.11', helo: 'out1.ship.example', pool: 'own' })
  const refused = async () => {
    const deleted = { errorName: 'parameterInvalid', message: /account.*is deleted/ }
    await t.rejects(core.domains.add({ accountId, name: 'late.example' }), deleted)
    await t.rejects(core.auth.createKey({ accountId }), deleted)
    await t.rejects(core.subaccounts.create(account, subaccount), deleted)
    await t.rejects(core.webhooks.create(accountId, webhook), deleted)
    await t.rejects(core.sources.addRule({ pool: 'own', accountId }), deleted)
    await t.rejects(core.tls.set({ accountId, domain: null }, 'verified'), deleted)
    await core.tls.set({ accountId, domain: null }, 'none')
  }
  t.ok(await core.retention.deletions.removeSome(), 'the removal has begun')
  await refused()
  await removeAll(service)
  t.equal((await core.retention.deletions.list())[0]?.state, 'done')
  await refused()
  t.strictSame(Object.keys(await rowsOf(service, await accountTables(service), accountId)), ['account_deletions'])
})

t.test('an account that is restored while its removal begins is deleted, and the operator reads so', async (t) => {
  const { accountId } = await service.makeSender()
  await closeAccount(service, accountId, 0)
  const worker = openDatabase({ url: env.DATABASE_URL as string, name: 'worker', connections: 1 })
  t.teardown(() => worker.end())
  let restored: Promise<unknown> = Promise.resolve()
  // The statements of remove.ts, between which the operator comes.
  await worker.begin(async (transaction) => {
    await transaction`select from account_deletions where account_id = ${accountId} for update`
    restored = core.retention.deletions.restore(accountId).catch((error: unknown) => error)
    await until('the operator to wait', async () => {
      const rows =
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return rows.count > 0
    })
    await transaction`update accounts set state = 'deleted', deleted_at = service_now() where id = ${accountId}`
    await transaction`update account_deletions set state = 'removing' where account_id = ${accountId}`
  })
  const error = await restored
  t.ok(error instanceof ServiceError)
  t.match(error, { message: /is deleted, and cannot be restored/ })
})

t.test('mail that is left until the end of a removal is held until then', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await closeAccount(service, accountId, 0)
  await moveClock(sql, '12 minutes')
  t.teardown(() => moveClock(sql, '0'))
  const isOpen = async () => (await core.accounts.find(accountId))?.closedAt === null
  const isLast = async () =>
    (await sql`select from account_deletions where account_id = ${accountId} and step = 'account'`).count > 0
  while (!(await isLast())) await core.retention.deletions.removeSome()
  await insertAnyRow(service, 'delivery_queue', accountId)
  await removeAll(service)
  t.notOk(await isOpen())
  t.ok((await core.deliveries.limits.accountHolds()).some((hold) => hold.accountId === accountId))
  await moveClock(sql, '13 minutes')
  await sql`update delivery_queue set worker_id = null`
  await removeAll(service)
  t.equal((await sql`select from delivery_queue`).count, 0)
  t.ok(await isOpen())
})

t.test('a closed account is on the list of deletions, however many others were deleted since', async (t) => {
  const { accountId } = await service.makeSender()
  await closeAccount(service, accountId)
  const parent = await service.makeSender()
  await sql`
    insert into account_deletions (account_id, state, grace_days, counts)
    select ${parent.accountId}, 'done', 0, '{}' from generate_series(1, 150)`
  const [first] = await core.retention.deletions.list()
  t.match(first, { accountId, state: 'closed' })
})
