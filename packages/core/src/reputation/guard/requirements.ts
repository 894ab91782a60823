import { BULK, DELIVERY_CLASSES } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'

/** Demands of large receivers on those who send much. `dkim`, `spf` and `dmarc` are those of the domain; `ptr` is that of the source addresses. */
export type RequirementName = 'dkim' | 'spf' | 'dmarc' | 'oneClick' | 'ptr'

export interface Requirement {
  readonly name: RequirementName
  /** `unchecked`: not known; `unneeded`: one-click unsubscription, of a domain without bulk mail. */
  readonly state: 'right' | 'missing' | 'unchecked' | 'unneeded'
  readonly problem?: string
}

/** Messages of the last 24 hours that are looked at, the latest first. */
const MAX_MESSAGES = 1000

interface Row {
  readonly id: number
  readonly dkim: string
  readonly spf: string
  readonly returnPath: string
  readonly dmarc: { readonly state: string; readonly problem?: string } | null
  readonly bulk: number
  readonly withoutOneClick: number
}

/** Returns the requirements of these domains, by id, as far as this service knows them. */
export async function readRequirements(sql: AnySql, ids: readonly number[]): Promise<Map<number, Requirement[]>> {
  const state = (key: ReturnType<AnySql>) => sql`coalesce(d.records->(${key})->>'state', 'unchecked')`
  const rows = await sql<Row[]>`
    select d.id, case when k.selector is null then 'unchecked' else ${state(sql`'TXT ' || k.selector || '._domainkey.' || d.name`)} end as dkim,
           ${state(sql`'TXT ' || d.name`)} as spf,
           case when d.return_path_host is not null then 'right' else 'missing' end as "returnPath",
           g.dmarc, m.bulk, m.without as "withoutOneClick"
      from domains d
      left join domain_guards g on g.domain_id = d.id
      left join lateral (select selector from dkim_keys where domain_id = d.id and state = 'active' limit 1) k on true
     cross join lateral (
       select count(*)::int as bulk,
              (count(*) filter (where settings->>'unsubscribe' is distinct from 'true' and settings->>'groupLink' is distinct from 'true'))::int as without
         from (select settings, domain_id from messages
                where account_id = d.account_id and id >= uuidv7_floor(service_now() - interval '1 day')
                order by id desc limit ${MAX_MESSAGES}) latest
        where domain_id = d.id and settings->>'class' = ${DELIVERY_CLASSES[BULK]}
     ) m
     where d.id = any(${[...ids]}::int[])`
  const ptr = await readPtr(sql)
  return new Map(rows.map((row) => [row.id, [...requirementsOf(row), ptr]]))
}

function requirementsOf({ dkim, spf, returnPath, dmarc, bulk, withoutOneClick }: Row): Requirement[] {
  const spfState = returnPath === 'right' ? 'right' : spf
  return [
    requirement('dkim', dkim, 'the DKIM record of the signing key is not right'),
    requirement('spf', spfState, 'neither the SPF record nor the own return path is right'),
    requirement('dmarc', dmarc?.state ?? 'unchecked', dmarc?.problem ?? 'no DMARC record applies to the domain'),
    bulk === 0
      ? { name: 'oneClick', state: 'unneeded' }
      : requirement(
          'oneClick',
          withoutOneClick === 0 ? 'right' : 'missing',
          `${withoutOneClick} of ${bulk} bulk messages were sent without added unsubscribe links; unless they have fields ` +
            'List-Unsubscribe and List-Unsubscribe-Post of their own, one-click unsubscription (RFC 8058) is missing',
        ),
  ]
}

function requirement(name: RequirementName, state: string, problem: string): Requirement {
  if (state === 'right' || state === 'unchecked') return { name, state }
  return { name, state: 'missing', problem }
}

/** The PTR records of all active sources: each may send mail of each domain. */
async function readPtr(sql: AnySql): Promise<Requirement> {
  const rows = await sql<{ name: string; state: string }[]>`
    select s.name, r->>'state' as state
      from sources s join source_checks c on c.source_id = s.id
     cross join jsonb_array_elements(c.records) r
     where s.state = 'active' and r->>'purpose' = 'reverse' order by s.name`
  const wrong = [...new Set(rows.filter(({ state }) => ['wrong', 'missing'].includes(state)).map(({ name }) => name))]
  if (wrong.length > 0) {
    const names = wrong.slice(0, 5).join(', ')
    return requirement('ptr', 'missing', `the PTR record of a source is not right: ${names}`)
  }
  return { name: 'ptr', state: rows.some(({ state }) => state === 'right') ? 'right' : 'unchecked' }
}
