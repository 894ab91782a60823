import { type Actor, ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import { requireNotDeleted } from '../../accounts/require-active.ts'
import { parseDomain } from '../../mime/address.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { requireAccount } from '../require-account.ts'
import { isTlsDemand, type TlsDemand } from './levels.ts'

/** The notification channel that tells workers to read the rules again. */
export const TLS_CHANNEL = 'postrider_tls'

/** A demand of the mail of an account, or of all accounts, on the connections for a recipient's domain, or for all domains. */
export interface TlsRule {
  /** Null if it applies to the mail of all accounts. */
  readonly accountId: number | null
  /** Null if it applies to all domains. */
  readonly domain: string | null
  readonly level: TlsDemand
}

export interface TlsTarget {
  readonly accountId: number | null
  /** A domain in any notation; null: all domains. */
  readonly domain: string | null
}

/** Rules of the operator, those of single accounts apart; workers hold them in memory. */
const MAX_RULES = 10_000

/** Returns all rules, for workers. */
export async function readTlsRules(sql: AnySql): Promise<TlsRule[]> {
  return sql<TlsRule[]>`select account_id as "accountId", domain, level from tls_rules order by domain, account_id`
}

/** Returns at most `limit` of the rules, those for a domain if one is given. */
export async function listTlsRules(sql: AnySql, domain: string | undefined, limit: number): Promise<TlsRule[]> {
  const where = domain === undefined ? sql`true` : sql`domain = ${domain} or domain is null`
  return sql<TlsRule[]>`
    select account_id as "accountId", domain, level from tls_rules where ${where} order by domain, account_id nulls first limit ${limit}::int`
}

/** Returns what an account demands for its mail to all domains. */
export async function accountTls(sql: AnySql, accountId: number): Promise<TlsDemand | 'none'> {
  const [rule] = await sql<Pick<TlsRule, 'level'>[]>`
    select level from tls_rules where account_id = ${accountId}::int and domain is null`
  return rule?.level ?? 'none'
}

/** Returns the TLS version that an account gave with what it demands for its mail to all domains. */
export async function accountTlsVersion(sql: AnySql, accountId: number): Promise<number | undefined> {
  const [rule] = await sql<{ version: number | null }[]>`
    select version::float8 as version from tls_rules where account_id = ${accountId}::int and domain is null`
  return rule?.version ?? undefined
}

/**
 * Sets what is demanded, or with `none` removes the rule. All workers know it within seconds. Returns what was set, with the name of the
 * domain in its usual form. Throws parameterInvalid: level, domain or account.
 */
export async function setTlsRule(
  sql: Sql,
  target: TlsTarget,
  { level, version, by }: { readonly level: string; readonly version: number | undefined; readonly by: Actor },
): Promise<TlsTarget & { readonly level: TlsDemand | 'none' }> {
  if (level !== 'none' && !isTlsDemand(level))
    throw invalidParameter('level', 'must be required, verified, dane or none')
  const { accountId } = target
  const domain = target.domain === null ? null : tlsDomain(target.domain)
  await requireAccount(sql, accountId)
  await sql.begin(async (transaction) => {
    // A rule that is there can always be taken away.
    if (level !== 'none' && accountId !== null) await requireNotDeleted(transaction, accountId)
    await transaction`select pg_advisory_xact_lock(hashtext('tls_rules'))`
    const before = await levelOf(transaction, { accountId, domain })
    if (before === level) return noteVersion(transaction, { accountId, domain }, version)
    if (level === 'none') {
      await transaction`
        delete from tls_rules where account_id is not distinct from ${accountId}::int and domain is not distinct from ${domain}::text`
    } else {
      if (before === 'none' && domain !== null) await requireCapacity(transaction)
      await transaction`
        insert into tls_rules (account_id, domain, level) values (${accountId}::int, ${domain}::text, ${level})
        on conflict on constraint tls_rules_target do update set level = excluded.level`
    }
    await noteVersion(transaction, { accountId, domain }, version)
    await transaction`select pg_notify(${TLS_CHANNEL}, '')`
    await noteChange(transaction, {
      accountId: accountId ?? ALL_ACCOUNTS,
      by,
      action: 'tls.set',
      object: domain === null ? 'tls' : `tls to ${domain}`,
      before: { level: before },
      after: { level },
    })
  })
  return { accountId, domain, level }
}

/** Returns the A-label form of a domain. Throws parameterInvalid. */
export function tlsDomain(text: string): string {
  const domain = parseDomain(text.trim().replace(/\.$/, ''))
  if (domain === undefined) throw invalidParameter('domain', 'must be a domain name such as example.com')
  return domain
}

async function levelOf(
  sql: AnySql,
  { accountId, domain }: Pick<TlsRule, 'accountId' | 'domain'>,
): Promise<TlsDemand | 'none'> {
  const [rule] = await sql<Pick<TlsRule, 'level'>[]>`
    select level from tls_rules
     where account_id is not distinct from ${accountId}::int and domain is not distinct from ${domain}::text`
  return rule?.level ?? 'none'
}

async function noteVersion(
  sql: AnySql,
  { accountId, domain }: Pick<TlsRule, 'accountId' | 'domain'>,
  version: number | undefined,
): Promise<void> {
  if (version === undefined) return
  await sql`
    update tls_rules set version = ${version}::float8::numeric
     where account_id is not distinct from ${accountId}::int and domain is not distinct from ${domain}::text`
}

async function requireCapacity(sql: AnySql): Promise<void> {
  const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
    select count(*)::int as count from tls_rules where domain is not null`
  if (count >= MAX_RULES) throw invalidParameter('domain', `the limit of ${MAX_RULES} rules is reached`)
}
