import type { Sql } from '@postrider/core'
import type { Owners } from './owners.ts'
import type { Scale } from './scale.ts'

/** Days for which counts are kept by hour. */
const HOURLY_DAYS = 14
const COUNTED_DAYS = 84
/** Rows of the large account, at scale 1: about one for each message of an hour; and of a folded day. */
const ROWS = { hour: 2400, day: 20_000 }
/** The longest-lived lists that are made by others than the account: of the installation, and of one webhook and one domain. */
const LISTED = { returns: 1_000_000, dead: 1000, exports: 99, reports: 9000 }

/** What became of mail in each hour, as the sequencer counts it, with what it has come back with. */
export async function fillCounts(sql: Sql, scale: Scale, owners: Owners): Promise<void> {
  const { large, firstLargeDomain, firstSmall, firstSmallDomain } = owners
  const share = scale.sent / 9_100_000
  const rows = (all: number): number => Math.max(1, Math.round(all * share))
  const counts = sql`5, 7, 4, 2, case when i % 100 = 0 then 1 else 0 end, 0, 0, 0, 0, 0`
  const columns = sql`
    account_id, hour, domain_id, class, provider, source, accepted, attempts, delivered, deferred, hard, soft, blocked, late, complained, unsubscribed`
  const provider = sql`(array['google', 'microsoft', 'yahoo', ''])[1 + i % 4]`
  const hours = sql`generate_series(0, ${HOURLY_DAYS * 24 - 1}::int) h`
  const at = sql`date_trunc('hour', service_now(), 'UTC') - h * interval '1 hour'`
  await sql`
    insert into delivery_counts (${columns})
    select ${large}::int, ${at}, ${firstLargeDomain}::int + (i * 7 + h) % ${scale.largeDomains}::int, 1, ${provider}, i / 4 % 2, ${counts}
      from ${hours}, generate_series(0, ${rows(ROWS.hour) - 1}::int) i on conflict do nothing`
  await sql`
    insert into delivery_counts (${columns})
    select ${large}::int, date_trunc('day', service_now(), 'UTC') - d * interval '1 day', ${firstLargeDomain}::int + i % ${scale.largeDomains}::int, 1,
           ${provider}, i / ${scale.largeDomains}::int % 4, ${counts}
      from generate_series(${HOURLY_DAYS + 1}::int, ${COUNTED_DAYS}::int) d, generate_series(0, ${rows(ROWS.day) - 1}::int) i on conflict do nothing`
  await sql`
    insert into delivery_counts (${columns})
    select ${firstSmall}::int + i, ${at}, ${firstSmallDomain}::int + i, 1, ${provider}, '', ${counts}
      from ${hours}, generate_series(0, ${scale.smalls}::int - 1) i where (i + h) % 2 = 0 on conflict do nothing`
  await sql`
    insert into account_counts (account_id, hour, accepted, delivered, hard, soft, complained)
    select account_id, hour, sum(accepted), sum(delivered), sum(hard), sum(soft), sum(complained) from delivery_counts
     where hour > service_now() - interval '31 days' group by 1, 2 on conflict do nothing`
  await sql`
    insert into returns (kind, received_at, message_id, recipient_no, account_id, effect, reporter, size)
    select (array['bounce', 'complaint', 'opt-out'])[1 + i % 3], service_now() - i * interval '2 s', gen_random_uuid(), 0, ${large}::int, 'none',
           'd' || i % 10000 || '.example', 4000
      from generate_series(1, ${rows(LISTED.returns)}::int) i`
}

/** Of the large account: what it has at most of exports, and the reports of one of its domains. */
export async function fillKept(sql: Sql, { large, firstLargeDomain }: Owners): Promise<void> {
  await sql`
    insert into export_jobs (account_id, state, format, first_day, last_day, begins_at, ends_at, finished_at, expires_at)
    select ${large}::int, 'done', 'csv', current_date, current_date, now(), now(), now(), now() + interval '7 days'
      from generate_series(1, ${LISTED.exports}::int)`
  await sql`
    with made as (
      insert into dmarc_reports (domain_id, account_id, policy_domain, organization, report_id, begin_at, end_at, policy, reporter, authenticated,
             received_at, rows, messages, aligned, ours, ours_aligned)
      select ${firstLargeDomain}::int + 77, ${large}::int, 'large-77.example', 'd' || i % 100, 'report ' || i, now() - i * interval '13 min',
             now() - i * interval '13 min', '{"p": "none"}', 'd' || i % 100 || '.example', true, now() - i * interval '13 min', 5, 50, 40, 30, 30
        from generate_series(1, ${LISTED.reports}::int) i returning id)
    insert into dmarc_rows (report, no, count, source_ip, disposition, dkim, spf, header_from, ours)
    select id, n, 10, '192.0.2.0'::inet + n, 'none', true, false, 'large-77.example', n < 3 from made, generate_series(0, 4) n`
}

/** The other members of the large account, which is full then; its first one must be the person who visits its pages. */
export async function fillTeam(sql: Sql, large: number): Promise<void> {
  await sql`
    with made as (
      insert into users (name, email, email_key)
      select 'Reader ' || i, 'reader' || i || '@large-0.example', 'reader' || i || '@large-0.example' from generate_series(1, 499) i returning id)
    insert into memberships (account_id, user_id, role) select ${large}::int, id, 'viewer' from made`
}
