import type { Account } from '../account.ts'
import { HOUR, MINUTE, type Rate } from '../rate-limits/index.ts'
import type { Rates } from './api-key.ts'
import type { KeyHolder, Subaccount } from './holder-store.ts'

/**
 * The rate limits of a key's calls, computed once and used for many. `callsByDefault`: calls per minute of accounts
 * without a limit set by the operator; 0 means unlimited.
 */
export function ratesOf(holder: KeyHolder, callsByDefault: number): Rates {
  const { account, keyId, countsWith, restrictions, sendsPerMinute, parentSendsPerMinute } = holder
  const quotaKey = countsWith ?? keyId
  const { callsPerMinute, recipientsPerHour } = restrictions
  const ofKey = rate(`key ${quotaKey}`, callsPerMinute, 'calls per minute for this api_key')
  const calls = rate(
    `calls ${account.id}`,
    holder.accountCallsPerMinute ?? (callsByDefault || null),
    'calls per minute',
  )
  const recipients = rate(`recipients ${quotaKey}`, recipientsPerHour, 'recipients per hour for this api_key', HOUR)
  return {
    calls: nonEmpty([calls, ofKey]),
    sends: nonEmpty([
      sendsOf(account.id, sendsPerMinute, 'this account'),
      sendsOf(account.parentId, parentSendsPerMinute, 'the parent account'),
      ofKey,
    ]),
    recipients,
  }
}

/** Rate limits when acting for a subaccount: those of the subaccount and those of the caller. */
export function ratesFor({ calls, sends, recipients }: Rates, { account, sendsPerMinute }: Subaccount): Rates {
  const own = sendsOf(account.id, sendsPerMinute, 'the subaccount')
  return { calls, sends: own ? [own, ...(sends ?? [])] : sends, recipients }
}

function sendsOf(account: Account['parentId'], limit: number | null, whose: string): Rate | null {
  return rate(`sends ${account}`, limit, `messages per minute for ${whose}`)
}

function rate(name: string, limit: number | null, what: string, seconds = MINUTE): Rate | null {
  return limit === null ? null : { name, what, limit, seconds }
}

function nonEmpty(rates: readonly (Rate | null)[]): readonly Rate[] | null {
  const set = rates.filter((one) => one !== null)
  return set.length > 0 ? set : null
}
