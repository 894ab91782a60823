import { MAILBOX_PROVIDERS, type Sql } from '@postrider/core'
import type { Owners } from './owners.ts'
import type { Scale } from './scale.ts'

const COUNTED = `processed, sent, deferred, hard_bounced, soft_bounced, expired, dropped, invalid, opened, unique_opened, machine_opened,
  clicked, unique_clicked, machine_clicked, unsubscribed, complained`

/** Readers have mailboxes with the providers that are told apart, every day. */
const PROVIDERS = [...MAILBOX_PROVIDERS.values()].flat()

/** A year of counts. They are of the right size and shape, not what the events add up to: only a recount makes them so. */
export async function fillRollUps(sql: Sql, scale: Scale, owners: Owners): Promise<void> {
  const add = (rows: string): Promise<unknown> =>
    sql.unsafe(`
      insert into roll_ups (account_id, subject, name, day, place, ${COUNTED}, delivery_times)
      select account_id, subject, name, day, place, n, n, n / 20, n / 70, n / 40, 0, n / 100, n / 300, n / 2, n / 2, n / 8, n / 8, n / 8, 0,
             n / 200, n / 600, array_fill(1 + n / 40, array[24 + n % 16])
        from (${rows}) r order by day, account_id, subject, name`)
  const days = (count: number): string =>
    `(select d, (now() at time zone 'UTC')::date - d as day from generate_series(0, ${count - 1}) d) days`
  const { large, firstMedium, firstSmall } = owners
  const year = scale.countedDays
  const names = Math.min(1000, Math.max(10, scale.tags))
  await add(
    `select ${large} as account_id, 'total' as subject, '' as name, day, null::integer as place, 60000 as n from ${days(year)}`,
  )
  await add(`select ${large} as account_id, 'domain' as subject, 'large-' || i || '.example' as name, day, null::integer as place,
                    case when i = 0 then 36000 else 5 end as n from ${days(year)}, generate_series(0, ${scale.largeDomains - 1}) i`)
  await add(`select ${large} as account_id, 'recipient_domain' as subject,
                    coalesce((array['${PROVIDERS.join("','")}'])[i + 1], 'd' || (d * 13 + i) % 10000 || '.example') as name, day,
                    i + 1 as place, 60 as n from ${days(year)}, generate_series(0, ${names - 1}) i`)
  await add(
    `select ${large} as account_id, 'tag' as subject,
                    'tag-' || lpad((case when i < 500 then i else 500 + (d * 500 + i) %
                      ${Math.max(1000, Math.round(scale.tags * 0.83) - 500)} end)::text, 6, '0') as name,
                    day, i + 1 as place, 60 as n from ${days(year)}, generate_series(0, ${names - 1}) i`,
  )
  await add(`select ${large} as account_id, subject, '' as name, day, null::integer as place, 200 as n
               from ${days(year)}, unnest(array['other tag', 'other recipient_domain']) subject`)
  const mediums = `generate_series(${firstMedium}, ${firstMedium + scale.mediums - 1}) account_id`
  const mediumNames = Math.max(1, Math.round(names / 5))
  await add(
    `select account_id, 'total' as subject, '' as name, day, null::integer as place, 2000 as n from ${days(year)}, ${mediums}`,
  )
  await add(`select account_id, 'domain' as subject, 'medium-' || (account_id - ${firstMedium}) * ${scale.mediumDomains} + i || '.example' as name, day,
                    null::integer as place, 100 as n from ${days(year)}, ${mediums}, generate_series(0, ${scale.mediumDomains - 1}) i`)
  await add(`select account_id, subject, subject || '-' || i as name, day, i as place, 10 as n
               from ${days(year)}, ${mediums}, generate_series(1, ${mediumNames}) i, unnest(array['tag', 'recipient_domain']) subject`)
  const smalls = `generate_series(${firstSmall}, ${firstSmall + scale.smalls - 1}) account_id`
  await add(`select account_id, 'total' as subject, '' as name, day, null::integer as place, 5 as n from ${days(year)}, ${smalls}
              where d < ${scale.smallCountedDays} or account_id < ${firstSmall + scale.subaccounts}`)
  await add(`select account_id, subject, case subject when 'domain' then 'small-' || account_id - ${firstSmall} || '.example' else subject || '-0' end as name,
                    day, case subject when 'domain' then null else 1 end as place, 5 as n
               from ${days(scale.smallCountedDays)}, ${smalls}, unnest(array['domain', 'tag', 'recipient_domain']) subject`)
  await sql`
    insert into tags (account_id, name, created_at)
    select account_id, name, min(day) from roll_ups where subject = 'tag' group by 1, 2 on conflict do nothing`
  await sql`
    insert into tags (account_id, name, created_at)
    select ${large}, 'tag-' || lpad(i::text, 6, '0'), now() - i * interval '1 min'
      from generate_series(0, ${Math.max(0, scale.tags - 1)} - (select count(*)::int from tags where account_id <> ${large})) i
    on conflict do nothing`
}

/** Of readers who want no more mail, of some groups of it, and for all accounts. */
export async function fillSuppressions(sql: Sql, scale: Scale, owners: Owners): Promise<void> {
  await sql`
    insert into suppressions (account_id, scope, value, reason, since, group_id)
    select case when i % 20 < 15 then ${owners.large}::int when i % 20 < 18 then ${owners.firstMedium}::int + i / 20 % ${scale.mediums}::int
                else ${owners.firstSmall}::int + i / 20 % ${scale.smalls}::int end,
           case when i % 20 = 0 then 'group' else 'address' end, 's' || i || '@d' || i % 10000 || '.example',
           case when i % 20 = 0 or i % 20 < 9 then 'unsubscribe' when i % 20 < 17 then 'hardbounce' when i % 20 < 19 then 'abuse' else 'manual' end,
           now() - i % 63072000 * interval '30 s', case when i % 20 = 0 then 1 + i / 20 % 20 else 0 end
      from generate_series(1, ${scale.suppressions}::int) i`
  await sql`
    insert into suppressions (account_id, scope, value, reason)
    select 0, 'address', 'global' || i || '@d1.example', 'global' from generate_series(1, 1000) i`
}
