import type { Account } from '../account.ts'
import { HOUR, MINUTE, type Rate } from '../rate-limits/index.ts'
import type { Rates } from './api-key.ts'
import type { KeyHolder, Subaccount } from './store.ts'

/**
 * What a key's calls draw on, made once for many of them. `callsByDefault`: a minute, for accounts the operator set nothing
 * for; 0: as many as come.
 */
export function ratesOf(holder: KeyHolder, callsByDefault: number): Rates {
  const { account, keyId, countsWith, restrictions, sendsPerMinute, parentSendsPerMinute } = holder
  const allowance = countsWith ?? keyId
  const { callsPerMinute, recipientsPerHour } = restrictions
  const ofKey = rate(`key ${allowance}`, callsPerMinute, 'calls per minute for this api_key')
  const calls = rate(
    `calls ${account.id}`,
    holder.accountCallsPerMinute ?? (callsByDefault || null),
    'calls per minute',
  )
  const recipients = rate(`recipients ${allowance}`, recipientsPerHour, 'recipients per hour for this api_key', HOUR)
  return {
    calls: some([calls, ofKey]),
    sends: some([sendsOf(account.id, sendsPerMinute), sendsOf(account.parentId, parentSendsPerMinute), ofKey]),
    recipients,
  }
}

/** Under a subaccount's name: its own limit counts, and those of whoever acts for it. */
export function ratesFor({ calls, sends, recipients }: Rates, { account, sendsPerMinute }: Subaccount): Rates {
  const own = sendsOf(account.id, sendsPerMinute)
  return { calls, sends: own ? [own, ...(sends ?? [])] : sends, recipients }
}

function sendsOf(account: Account['parentId'], limit: number | null): Rate | null {
  return rate(`sends ${account}`, limit, 'messages per minute')
}

function rate(name: string, limit: number | null, what: string, seconds = MINUTE): Rate | null {
  return limit === null ? null : { name, what, limit, seconds }
}

function some(rates: readonly (Rate | null)[]): readonly Rate[] | null {
  const set = rates.filter((one) => one !== null)
  return set.length > 0 ? set : null
}
