import { loadProviders } from '../../delivery/providers/providers.ts'
import type { Config } from '../../platform/config/config.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { noteLacking } from './note-lacking.ts'
import { RECEIVERS } from './receivers.ts'
import {
  type DomainRequirements,
  type ReceiverRequirement,
  type RequirementOptions,
  readRequirements,
  type TlsOfProvider,
} from './requirements.ts'

export type { RequirementName } from './receivers.ts'
export type { DomainRequirements, ReceiverRequirement, ReceiverRequirements, Requirement } from './requirements.ts'

/** A domain that sends much to a receiver and lacks something that it demands. */
export interface GuardAlarm {
  readonly domainId: number
  readonly accountId: number
  readonly name: string
  /** The domain that is counted together with all its subdomains. */
  readonly organisational: string
  /** Messages delivered within 24 hours to the receiver that got the most. */
  readonly delivered: number
  readonly receiver: string
  readonly missing: readonly ReceiverRequirement[]
}

/** Requirements of large receivers. */
export interface Guard {
  /** Returns the requirements of a domain, as far as they are known; none if there is no such domain. */
  requirements(domainId: number): Promise<DomainRequirements>
  /** To be called after a check of a domain. See note-lacking.ts. */
  noteLacking(domainId: number): Promise<void>
  /** Returns the domains that send so much that a receiver demands what they lack, at most 1000. */
  alarms(): Promise<GuardAlarm[]>
  /** Returns those of them that were not returned within a day. Any number of workers may ask at once. */
  dueAlarms(): Promise<GuardAlarm[]>
}

/** Those that say from how many messages per day a sender counts as large: all of them 5000. The warning comes before. */
const COUNTED = RECEIVERS.filter(({ bulkFrom }) => bulkFrom !== null)
const ALARM_FROM = 4000
const MAX_ALARMS = 1000

export interface GuardDependencies {
  readonly sql: Sql
  readonly config: Pick<Config, 'delivery' | 'providersFile' | 'requirements'>
}

export function createGuard({ sql, config }: GuardDependencies): Guard {
  const tlsOf: TlsOfProvider = (provider) =>
    config.delivery.kind === 'mx'
      ? loadProviders(config.providersFile).named(provider)?.tlsRequired === true
      : undefined
  const options = { tlsOf, requirements: config.requirements }
  return {
    requirements: async (domainId) =>
      (await readRequirements(sql, [domainId], options)).get(domainId) ?? { general: [], receivers: [], isHeld: false },
    noteLacking: (domainId) => noteLacking(sql, domainId, config.requirements),
    alarms: () => readAlarms(sql, options),
    async dueAlarms() {
      const alarms = await readAlarms(sql, options)
      if (alarms.length === 0) return []
      const due = await sql<{ domainId: number }[]>`
        update domain_guards set warned_at = service_now()
         where domain_id in (
           select domain_id from domain_guards
            where domain_id = any(${alarms.map(({ domainId }) => domainId)}::int[])
              and coalesce(warned_at, '-infinity') <= service_now() - interval '1 day'
            for update skip locked)
        returning domain_id as "domainId"`
      const ids = new Set(due.map(({ domainId }) => domainId))
      return alarms.filter(({ domainId }) => ids.has(domainId))
    },
  }
}

/** Domains that were never checked have no row yet, and are not known to lack anything. */
async function readAlarms(sql: AnySql, options: RequirementOptions): Promise<GuardAlarm[]> {
  const receivers = COUNTED.flatMap(({ name, providers }) =>
    providers.map((provider) => ({ receiver: name, provider })),
  )
  const large = await sql<Omit<GuardAlarm, 'missing'>[]>`
    with sent as (
      select c.domain_id, r.receiver, sum(c.delivered) as delivered
        from jsonb_to_recordset(${JSON.stringify(receivers)}::text::jsonb) as r (receiver text, provider text)
        join delivery_counts c on c.provider = r.provider and c.hour > service_now() - interval '1 day'
       group by 1, 2
    ), organisations as (
      select g.organisational, s.receiver, sum(s.delivered)::int as delivered
        from sent s join domain_guards g on g.domain_id = s.domain_id
       group by 1, 2 having sum(s.delivered) >= ${ALARM_FROM}
    )
    select distinct on (d.name, d.id) d.id as "domainId", d.account_id as "accountId", d.name, o.organisational, o.delivered, o.receiver
      from organisations o
      join domain_guards g on g.organisational = o.organisational
      join domains d on d.id = g.domain_id and d.deleted_at is null and d.state <> 'pending'
     where exists (select from sent s where s.domain_id = d.id and s.receiver = o.receiver and s.delivered > 0)
     order by d.name, d.id, o.delivered desc limit ${MAX_ALARMS}`
  if (large.length === 0) return []
  const ids = large.map(({ domainId }) => domainId)
  const requirements = await readRequirements(sql, ids, options)
  return large.flatMap((domain) => {
    const demands = requirements.get(domain.domainId)?.receivers.find(({ receiver }) => receiver === domain.receiver)
    const missing = (demands?.requirements ?? []).filter(({ state }) => state === 'missing')
    return missing.length === 0 ? [] : [{ ...domain, missing }]
  })
}
