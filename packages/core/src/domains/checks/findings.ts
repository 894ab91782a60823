import type { AnySql } from '../../platform/database/database.ts'

/** A provider's reply about a sending domain, which its owner has to correct: no retry helps. */
export interface DomainFinding {
  /** The provider, or the hosts. */
  readonly place: string
  /** The enhanced status code (RFC 3463), such as 5.7.26: the provider could not authenticate the domain. */
  readonly code: string
  /** The latest reply. */
  readonly reply: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Days after which a finding that did not occur again is no longer reported. */
const REPORTED_DAYS = 7

/** Records that a provider refused mail because of its sending domain. */
export async function noteFinding(
  sql: AnySql,
  domainId: number,
  { place, code, reply }: Pick<DomainFinding, 'place' | 'code' | 'reply'>,
): Promise<void> {
  await sql`
    insert into domain_findings as f (domain_id, place, code, reply, count, first_at, last_at)
    select id, ${place}, ${code}, ${reply}, 1, service_now(), service_now() from domains where id = ${domainId}
    on conflict (domain_id, place, code) do update
       set reply = excluded.reply, count = f.count + 1, last_at = excluded.last_at`
}

/** Returns the findings of the last week, the latest first. */
export async function listFindings(sql: AnySql, domainId: number): Promise<DomainFinding[]> {
  return sql<DomainFinding[]>`
    select place, code, reply, count, first_at as "firstAt", last_at as "lastAt" from domain_findings
     where domain_id = ${domainId} and last_at > service_now() - make_interval(days => ${REPORTED_DAYS})
     order by last_at desc limit 50`
}
