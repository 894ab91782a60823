import { databaseErrorCode, type Sql } from '../database.ts'
import { invalidParameter } from '../errors.ts'
import { parseAddress, parseDomain } from '../recipients/address.ts'

export type SuppressionReason = 'unsubscribe' | 'hardbounce' | 'abuse' | 'manual' | 'global'
export type SuppressionScope = 'address' | 'domain'

export interface NewSuppression {
  readonly accountId: number
  readonly scope: SuppressionScope
  readonly value: string
  readonly reason: SuppressionReason
}

export interface Suppressions {
  /** Idempotent: the first reason stays. Throws parameterInvalid (email, domain, account). */
  add(suppression: NewSuppression): Promise<void>
}

export function suppressionsOf(sql: Sql): Suppressions {
  return {
    async add({ accountId, scope, value, reason }) {
      const key = scope === 'address' ? parseAddress(value)?.key : parseDomain(value)
      if (key === undefined) throw invalidParameter(scope === 'address' ? 'email' : 'domain', 'it is malformed')
      try {
        await sql`
          insert into suppressions (account_id, scope, value, reason) values (${accountId}, ${scope}, ${key}, ${reason})
          on conflict do nothing`
      } catch (error) {
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'there is no such account')
        throw error
      }
    },
  }
}
