import type { RequirementMode } from '../../accounts/account-settings.ts'
import { BULK, DELIVERY_CLASSES } from '../../accounts/mail-class.ts'
import { LIMITS_CHANNEL } from '../../delivery/limits/overrides.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { noteStanding } from '../account-change.ts'
import { REQUIREMENTS } from '../other-holds.ts'
import { readDomainFacts } from './facts.ts'
import { lackedBy } from './requirements.ts'

/**
 * Stores which demands on large senders a domain lacks by its records, and tells workers if that has changed, and the account if its bulk mail is held or
 * sent again for that. Nothing is stored of a domain whose DMARC record was never looked up: it is not known to lack anything.
 */
export async function noteLacking(sql: Sql, domainId: number, usual: RequirementMode): Promise<void> {
  const [facts] = await readDomainFacts(sql, [domainId], usual)
  if (!facts) return
  const lacks = lackedBy(facts)
  const lacksSome = lacks.length > 0
  await sql.begin(async (transaction) => {
    const [changed] = await transaction<{ lackedSome: boolean }[]>`
      with changed as (
        update domain_guards g
           set lacks = ${lacks}::text[], lacking_since = case when ${lacksSome} then coalesce(g.lacking_since, service_now()) end
          from (select domain_id, lacks from domain_guards where domain_id = ${domainId} for update) before
         where g.domain_id = before.domain_id and before.lacks is distinct from ${lacks}::text[]
        returning coalesce(before.lacks <> '{}', false) as lacked)
      select lacked as "lackedSome", pg_notify(${LIMITS_CHANNEL}, '') from changed`
    if (changed && changed.lackedSome !== lacksSome) await noteHold(transaction, domainId, { usual, isHeld: lacksSome })
  })
}

interface Hold {
  readonly usual: RequirementMode
  readonly isHeld: boolean
}

/** Writes the change to the account's feed and notices, if its mail waits for what is lacking. */
async function noteHold(sql: SqlTransaction, domainId: number, { usual, isHeld }: Hold): Promise<void> {
  const [found] = await sql<{ accountId: number; name: string; others: number }[]>`
    select d.account_id as "accountId", d.name,
           (select count(*) from domains o join domain_guards g on g.domain_id = o.id
             where o.account_id = d.account_id and o.id <> d.id and o.deleted_at is null and o.state <> 'pending' and g.lacks <> '{}')::int as others
      from domains d join accounts a on a.id = d.account_id
     where d.id = ${domainId} and d.deleted_at is null and d.state <> 'pending' and coalesce(a.requirements, ${usual}) = 'hold'`
  if (!found) return
  const { accountId, name: domain, others } = found
  const [withIt, withoutIt] = ['held', others > 0 ? 'held' : 'good']
  await noteStanding(sql, accountId, {
    rule: REQUIREMENTS,
    domain,
    before: isHeld ? withoutIt : withIt,
    ...(isHeld ? { after: withIt, classes: [DELIVERY_CLASSES[BULK] as string] } : { after: withoutIt }),
    figures: { domains: others + (isHeld ? 1 : 0) },
  })
}
