import { createCore, createLog, openDatabase } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { nodesOf, planOf, recordStatements } from '../../helpers/statements.ts'

const service = await makeService(t)
const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
const sql = openDatabase({ url: recorder.url, name: 'test', connections: 1 })
const core = createCore({ sql, config: service.config, log: createLog('test', 'silent') })
t.teardown(async () => {
  core.readiness.close()
  await sql.end({ timeout: 1 })
})

t.test('old counts are found by their hours, not among those of all accounts and days', async (t) => {
  await service.sql`
    insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft, blocked,
           late, complained, unsubscribed)
    select account, date_trunc('day', now(), 'UTC') - day * interval '1 day', 1, 1, 'google', 'mta-1', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0
      from generate_series(1, 200) account, generate_series(1, 390) day`
  await service.sql`vacuum analyze delivery_counts`
  recorder.clear()
  t.equal(await core.reputation.forgetOld(), 0)
  const statements = recorder.statements().filter(({ text }) => text.includes('delete from delivery_counts'))
  t.equal(statements.length, 2)
  for (const statement of statements) {
    const found = nodesOf(await planOf(service.sql, statement)).find(({ node }) =>
      node['Index Cond']?.includes('hour <'),
    )
    t.match(found?.node['Index Name'], /^delivery_counts_hour/)
  }
})

t.test('the complaints about a domain are found among those of 500 domains of the account by 24 probes', async (t) => {
  const sender = await service.makeSender()
  await service.sql`
    insert into delivery_counts (account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft, blocked,
           late, complained, unsubscribed)
    select ${sender.accountId}, date_trunc('hour', now(), 'UTC') - hour * interval '1 hour', 100000 + domain, 2, 'yahoo', '', 1, 1, 1, 0, 0, 0, 0, 0, 1, 0
      from generate_series(1, 500) domain, generate_series(0, 23) hour`
  await service.sql`vacuum analyze delivery_counts`
  const { id } = await core.domains.show(sender.domain)
  recorder.clear()
  t.match(await core.guard.requirements(id), { general: [{ name: 'dkim' }] })
  const [statement] = recorder.statements().filter(({ text }) => text.includes('generate_series(0, 23)'))
  if (!statement) throw new Error('no statement')
  const found = nodesOf(await planOf(service.sql, statement)).find(
    ({ node }) => node['Index Name'] === 'delivery_counts_pkey',
  )
  t.match(found?.node['Index Cond'], 'domain_id = ')
})

t.test('workers find the lacking domains of accounts that hold their mail among 20,000 of others', async (t) => {
  const [held, other] = [await service.makeSender(), await service.makeSender()]
  await service.sql`
    with added as (
      insert into domains (account_id, name, state)
      select ${other.accountId}, 'lacking' || no || '.example', 'active' from generate_series(1, 20000) no returning id)
    insert into domain_guards (domain_id, dmarc, organisational, checked_at, lacks)
    select id, '{"state": "missing"}', 'lacking.example', service_now(), '{dmarc}' from added`
  await service.sql`
    insert into domain_guards (domain_id, dmarc, organisational, checked_at, lacks)
    select id, '{"state": "missing"}', name, service_now(), '{dmarc}' from domains where name = ${held.domain}`
  await service.sql`update accounts set requirements = 'hold' where id = ${held.accountId}`
  await service.sql`vacuum analyze domains, domain_guards, accounts`
  recorder.clear()
  t.match(await core.deliveries.limits.requirementHolds(), {
    byDefault: false,
    exceptions: [held.accountId],
    lacking: [{ name: held.domain }],
  })
  const [statement] = recorder.statements().filter(({ text }) => text.includes('from domain_guards'))
  if (!statement) throw new Error('no statement')
  const found = nodesOf(await planOf(service.sql, statement)).find(
    ({ node }) => node['Index Name'] === 'domains_account',
  )
  t.match(found?.node['Index Cond'], 'account_id = ')
})
