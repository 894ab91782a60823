import type { Account } from '../../accounts/account.ts'
import { DAY, type Rate } from '../../accounts/rate-limits/index.ts'
import { parseAddress } from '../../mime/address.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS } from '../../submission/limits.ts'
import type { Submission } from '../../submission/submission.ts'

/** Rule: an account on trial sends to its own address only. Throws parameterInvalid for any other recipient, and for more of them than a day has. */
export function trialRecipients(
  { envelopes, principal, nameOf }: Submission,
  { isTrial }: { readonly isTrial?: true },
): void {
  if (!isTrial) return
  const own = principal.account.trialAddress ?? ''
  const key = parseAddress(own)?.key
  let count = 0
  for (const [at, envelope] of envelopes.entries()) {
    for (const [field, list] of [['recipient', envelope.to] as const, ...copiesOf(envelope)]) {
      count += list.length
      if (list.every((address) => parseAddress(address)?.key === key)) continue
      throw invalidParameter(
        nameOf(field, at),
        `may contain only ${own} until a domain of the account is active; add a domain and publish its DNS records`,
      )
    }
  }
  if (count <= LIMITS.trialRecipients) return
  const problem = `may contain ${LIMITS.trialRecipients} addresses per day until a domain of the account is active, and contains ${count}`
  throw invalidParameter(nameOf('recipient', 0), problem)
}

function copiesOf({ cc, bcc }: Submission['envelopes'][number]) {
  return [['cc', cc] as const, ['bcc', bcc] as const]
}

/** The limit of an account on trial. All processes share it. */
export function trialRate({ id }: Account): Rate {
  const what = 'test messages per day, which holds until a domain of the account is active,'
  return { name: `trial ${id}`, what, limit: LIMITS.trialRecipients, seconds: DAY }
}
