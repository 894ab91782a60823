import { type Actor, ALL_ACCOUNTS, type AuditValues, noteChange } from '../../accounts/audit/index.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS_CHANNEL } from '../limits/overrides.ts'
import { type Egress, type Pool, readEgress, type Source } from './egress.ts'

/** A change, for the audit log of the installation. */
export interface EgressChange<T> {
  readonly result: T
  /** Such as `source.add`. */
  readonly action: string
  readonly object: string
  readonly before?: AuditValues
  readonly after?: AuditValues
}

/** Class of the lock that changes of sources, pools and rules hold. */
const LOCK = 7744

/** Changes sources, pools or rules, one change at a time. All workers learn of it at once. */
export async function changeEgress<T>(
  sql: Sql,
  by: Actor,
  act: (transaction: SqlTransaction, egress: Egress) => Promise<EgressChange<T>>,
): Promise<T> {
  return changeEgressIf(sql, by, act) as Promise<T>
}

/** Like {@link changeEgress}; returns undefined if `act` changes nothing. */
export async function changeEgressIf<T>(
  sql: Sql,
  by: Actor,
  act: (transaction: SqlTransaction, egress: Egress) => Promise<EgressChange<T> | undefined>,
): Promise<T | undefined> {
  return sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${LOCK}, 0)`
    const changed = await act(transaction, await readEgress(transaction))
    if (!changed) return undefined
    const { result, ...change } = changed
    await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    await noteChange(transaction, { ...change, accountId: ALL_ACCOUNTS, by })
    return result
  }) as Promise<T | undefined>
}

/** Throws parameterInvalid. */
export function sourceNamed({ sources }: Egress, name: string): Source {
  const source = sources.find((one) => one.name === name)
  if (!source) throw invalidParameter('source', `${quoted(name)} does not exist; existing sources: ${listed(sources)}`)
  return source
}

/** Throws parameterInvalid. */
export function poolNamed({ pools }: Egress, name: string, parameter = 'pool'): Pool {
  const pool = pools.find((one) => one.name === name)
  if (!pool) throw invalidParameter(parameter, `${quoted(name)} does not exist; existing pools: ${listed(pools)}`)
  return pool
}

const MAX_LISTED = 20

function listed(named: readonly { readonly name: string }[]): string {
  if (named.length === 0) return 'none'
  const names = named.slice(0, MAX_LISTED).map(({ name }) => name)
  return named.length > MAX_LISTED ? `${names.join(', ')} and others` : names.join(', ')
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 64))
}

/** Whether a text can be the name of a source or a pool: one label of a domain name. */
export function isEgressName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
}

/** Throws parameterInvalid. */
export function requireName(name: string, parameter: string): void {
  if (isEgressName(name)) return
  throw invalidParameter(
    parameter,
    'must have 1 to 63 lower-case letters, digits and hyphens, and begin and end with a letter or digit',
  )
}
