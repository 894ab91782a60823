import type { Core, Sql } from '@postrider/core'
import type { Scale } from './scale.ts'

/** Whose mail it is; ids of the medium and small ones, and of domains, follow each other. */
export interface Owners {
  readonly large: number
  /** Calls of the large account, and of a small one. */
  readonly apiKey: string
  readonly smallApiKey: string
  readonly firstMedium: number
  readonly firstSmall: number
  readonly firstLargeDomain: number
  readonly firstMediumDomain: number
  readonly firstSmallDomain: number
}

/** Accounts, keys, domains, templates and what else an account has a list of. */
export async function fillOwners(sql: Sql, core: Core, scale: Scale): Promise<Owners> {
  const { id: large } = await core.accounts.create('large')
  const mediums: number[] = []
  for (let number = 0; number < scale.mediums; number++)
    mediums.push((await core.accounts.create(`medium-${number}`)).id)
  const firstMedium = mediums[0] as number
  const [made] = await sql<{ firstSmall: number }[]>`
      with made as (
        insert into accounts (name, parent_id, username, email)
        select case when i < ${scale.subaccounts}::int then 'large/sub-' || i else 'small-' || i end,
               case when i < ${scale.subaccounts}::int then ${large}::int end,
               case when i < ${scale.subaccounts}::int then 'sub-' || i end, 'desk@small-' || i || '.example'
          from generate_series(0, ${scale.smalls}::int - 1) i order by i
        returning id)
      select min(id) as "firstSmall" from made`
  const firstSmall = made?.firstSmall as number
  await sql`update accounts set calls_per_minute = 100000000`
  const firstLargeDomain = await fillDomains(sql, core, large, 'large', scale.largeDomains)
  const firstMediumDomain = await fillDomains(sql, core, firstMedium, 'medium', scale.mediums * scale.mediumDomains)
  await sql`
    update domains set account_id = ${firstMedium}::int + (id - ${firstMediumDomain}::int) / ${scale.mediumDomains}::int
     where account_id = ${firstMedium}`
  const firstSmallDomain = await fillDomains(sql, core, firstSmall, 'small', scale.smalls)
  await sql`
    update domains set account_id = ${firstSmall}::int + id - ${firstSmallDomain}::int where account_id = ${firstSmall}`
  if (scale.lists) await fillLists(sql, large)
  const { secret: apiKey } = await core.auth.createKey({ accountId: large })
  const { secret: smallApiKey } = await core.auth.createKey({ accountId: firstSmall + scale.subaccounts })
  const ids = { large, firstMedium, firstSmall, firstLargeDomain, firstMediumDomain, firstSmallDomain }
  return { ...ids, apiKey, smallApiKey }
}

/** Active ones of the account, `name-0.example` and on, with one DKIM key for all; no worker looks them up for months. */
async function fillDomains(sql: Sql, core: Core, accountId: number, name: string, count: number): Promise<number> {
  const { id } = await core.domains.add({ accountId, name: `${name}-0.example`, state: 'active' })
  await sql`
    insert into domains (account_id, name, state, verified_at, checked_at)
    select ${accountId}::int, ${`${name}-`}::text || i || '.example', 'active', now(), now()
      from generate_series(1, ${count}::int - 1) i order by i`
  await sql`update domains set check_at = now() + interval '90 days'`
  await sql`
    insert into dkim_keys (domain_id, selector, public_key, private_key, state)
    select d.id, k.selector, k.public_key, k.private_key, k.state from domains d, dkim_keys k
     where d.account_id = ${accountId} and d.id > ${id} and k.domain_id = ${id}`
  return id
}

/** What an account has hundreds or thousands of. */
async function fillLists(sql: Sql, large: number): Promise<void> {
  await sql`
    insert into templates (account_id, name, content)
    select ${large}, 'template ' || i, repeat('<p>Dear reader</p>', 200) from generate_series(1, 500) i`
  await sql`
    insert into template_versions (template_id, number, content) select id, 1, content from templates where account_id = ${large}`
  await sql`
    insert into editable_templates (account_id, id, generation, name)
    select ${large}, 'd-' || md5(i::text), 'dynamic', 'dynamic ' || i from generate_series(1, 300) i`
  await sql`
    insert into editable_versions (account_id, template_id, id, active, name, subject, html, plain, generate_plain, editor)
    select account_id, t.id, gen_random_uuid(), v = 1, 'version ' || v, 'Hello {{name}}', repeat('<p>Dear reader</p>', 200), 'Hello', true, 'code'
      from editable_templates t, generate_series(1, 3) v`
  await sql`
    insert into unsubscribe_groups (account_id, id, name, description)
    select ${large}, i, 'group ' || i, 'mail of the kind ' || i from generate_series(1, 20) i`
  await sql`
    insert into attachments (account_id, file_name, content)
    select ${large}, 'file-' || i || '.pdf', decode(repeat('25504446', 500), 'hex') from generate_series(1, 1000) i`
  await sql`
    insert into batches (account_id, id, state)
    select ${large}, 'batch-' || i, case when i % 2 = 0 then 'pause' end from generate_series(1, 2000) i`
  await sql`
    insert into idempotency_keys (account_id, key, fingerprint, message_id, created_at)
    select ${large}, 'key-' || i, sha256(i::text::bytea), gen_random_uuid(), now() from generate_series(1, 200000) i`
  for (let from = 0; from < 20_000; from += 1000) {
    await sql`
      select audit_note(${large}, null, null, 'template.edit', 'template ' || i, '{"name": "before"}', '{"name": "after"}')
        from generate_series(${from}::int, ${from + 999}::int) i`
  }
  await sql`
    insert into credit_usage (account_id, day, slot, used)
    select a.id, (now() at time zone 'UTC')::date - d, s, 1000 from accounts a, generate_series(0, 364) d, generate_series(0, 1) s
     where a.id = ${large} or a.id % 10 = 0`
}
