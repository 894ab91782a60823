import type { Principal } from '../accounts/keys/api-key.ts'
import type { Domains } from '../domains/index.ts'
import { senderError } from '../domains/sender-error.ts'
import type { Messages } from '../messages/index.ts'
import { parseAddress } from '../mime/address.ts'
import { ServiceError } from '../platform/errors.ts'

export interface EnvelopeLookups {
  readonly domains: Domains
  readonly messages: Messages
}

/**
 * Returns the domain of the envelope's sender, which addresses without one get; undefined if it is not the account's, and the mail is sent from another
 * address. `where` is what the client calls the sender. Throws senderInvalid.
 */
export async function domainOfSender(
  { domains, messages }: EnvelopeLookups,
  { account }: Principal,
  address: string,
  where: string,
): Promise<string | undefined> {
  const domain = parseAddress(address)?.domain
  if (domain === undefined) {
    const problem = `${where} has no valid address`
    throw new ServiceError('senderInvalid', { values: { where: problem, problem }, reason: problem })
  }
  if (await domains.findSender(account, domain)) return domain
  if (await messages.fallbackFor(account, domain)) return undefined
  const trial = account.trialAddress ? await domains.trialSender() : null
  if (trial && trial.domain.name === domain) return undefined
  throw senderError(domain, where, await domains.stateOf(account.id, domain), trial?.address)
}

/** Returns the domain of addresses that have none in a message without a sender: that of its only recipient, if the account may send from it. */
export async function domainOfBounce(
  { domains }: Pick<EnvelopeLookups, 'domains'>,
  { account: { id, parentId } }: Principal,
  recipients: readonly string[],
): Promise<string | undefined> {
  const domain = recipients.length === 1 ? parseAddress(recipients[0] as string)?.domain : undefined
  return domain !== undefined && (await domains.findActive(id, domain, parentId)) ? domain : undefined
}
