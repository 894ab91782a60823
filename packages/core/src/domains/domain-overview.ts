import { type AnySql, onlyRow } from '../platform/database/database.ts'

/** An active or inactive domain whose records were not right at the last check. */
export interface TroubledDomain {
  readonly name: string
  readonly accountId: number
  readonly state: 'active' | 'inactive'
  /** DKIM, SPF, DMARC: those that are missing or wrong. */
  readonly records: readonly string[]
}

/** The sending domains of all accounts, as the last checks of their records found them. */
export interface DomainOverview {
  readonly active: number
  readonly inactive: number
  readonly pending: number
  readonly rejected: number
  /** Active domains that become inactive unless a required record is published again. */
  readonly broken: number
  /** Active and inactive domains whose record is missing or wrong. SPF counts only without a return path of the domain's own. */
  readonly dkim: number
  readonly spf: number
  readonly dmarc: number
  /** Domains whose check is overdue by an hour or more: no worker checks them. */
  readonly overdue: number
  /** The first five with a missing or wrong record, those that cannot send first. */
  readonly first: readonly TroubledDomain[]
  /** The oldest active domain of an active account; null if there is none. */
  readonly sender: { readonly name: string; readonly accountId: number } | null
}

/** Reads every domain once, with its active key; looks nothing up in the DNS. */
export async function readDomainOverview(sql: AnySql): Promise<DomainOverview> {
  const record = (host: ReturnType<AnySql>) =>
    sql`coalesce(d.records -> (${host}) ->> 'state' in ('missing', 'wrong'), false)`
  return onlyRow(
    await sql<DomainOverview[]>`
      with seen as materialized (
        select d.id, d.account_id, d.name, d.state, d.broken_since is not null as broken,
               d.check_at < service_now() - interval '1 hour' as overdue, d.state in ('active', 'inactive') as sends,
               ${record(sql`'TXT ' || k.selector || '._domainkey.' || d.name`)} as dkim,
               ${record(sql`'TXT ' || d.name`)} and d.return_path_host is null as spf,
               ${record(sql`'TXT _dmarc.' || d.name`)} as dmarc
          from domains d left join dkim_keys k on k.domain_id = d.id and k.state = 'active'
         where d.deleted_at is null
      ), troubled as (
        select account_id as "accountId", name, state,
               array_remove(array[case when dkim then 'DKIM' end, case when spf then 'SPF' end, case when dmarc then 'DMARC' end], null) as records
          from seen where sends and (dkim or spf or dmarc)
         order by state = 'active', not broken, id limit 5
      ), sender as (
        select s.name, s.account_id as "accountId" from seen s join accounts a on a.id = s.account_id
         where s.state = 'active' and a.state = 'active' and (a.expires_at is null or a.expires_at > service_now())
         order by s.id limit 1
      )
      select count(*) filter (where state = 'active')::int as active, count(*) filter (where state = 'inactive')::int as inactive,
             count(*) filter (where state = 'pending')::int as pending, count(*) filter (where state = 'rejected')::int as rejected,
             count(*) filter (where state = 'active' and broken)::int as broken, count(*) filter (where sends and dkim)::int as dkim,
             count(*) filter (where sends and spf)::int as spf, count(*) filter (where sends and dmarc)::int as dmarc,
             count(*) filter (where overdue)::int as overdue,
             coalesce((select json_agg(troubled) from troubled), '[]') as first, (select to_json(sender) from sender) as sender
        from seen`,
  )
}

/** Whether an account may send from the domain with this name. */
export async function isActiveDomain(sql: AnySql, name: string): Promise<boolean> {
  return (await sql`select from domains where name = ${name} and state = 'active' and deleted_at is null`).length > 0
}
