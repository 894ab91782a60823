import type { Principal } from '../../accounts/keys/api-key.ts'
import type { DomainState, UsableDomain } from '../../domains/domain.ts'
import { senderError } from '../../domains/sender-error.ts'
import type { FindTrialSender } from '../../domains/trial-sender.ts'
import { parseAddress } from '../../mime/address.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Submission } from '../../submission/submission.ts'

export interface SenderLookups {
  readonly findDomain: (
    accountId: number,
    name: string,
    parentId: number | null,
  ) => Promise<UsableDomain | null> | UsableDomain | null
  readonly findDomainAbove: (accountId: number, name: string, parentId: number | null) => Promise<UsableDomain | null>
  readonly stateOfDomain: (accountId: number, name: string) => Promise<DomainState | null> | DomainState | null
  readonly trialSender: FindTrialSender
}

export interface SenderFacts {
  readonly domain?: UsableDomain
  /** Whether the domain is the operator's, which the account may use because it is on trial. */
  readonly isTrial?: true
}

/**
 * Rule: the sender is on an active domain of the account. A message with the null sender is a notice of a mail program, from its own host name:
 * that may be a host below the domain; so may any other sender, if the account's setting says so.
 */
export function senderActive(
  submission: Submission,
  _: unknown,
  lookups: SenderLookups,
): SenderFacts | Promise<SenderFacts> {
  const { from, principal, envelopes, content } = submission
  const given = from?.email ?? ''
  const sender = parseAddress(given)
  if (!sender) {
    const problem = given.trimEnd().endsWith('>')
      ? 'must be only the address; put the name in fromName'
      : 'is not a valid email address'
    throw invalidSender(problem, 'the From field has no valid address', 'not an address')
  }
  const { id, parentId, trialAddress, hostsMaySend } = principal.account
  const otherwise = async (): Promise<SenderFacts> => {
    const mayBeAbove = hostsMaySend || content.nullReturnPath
    const above = mayBeAbove ? await lookups.findDomainAbove(id, sender.domain, parentId) : null
    if (above) return { domain: above }
    const trial = trialAddress ? await lookups.trialSender() : null
    const senders = [sender, ...envelopes.flatMap((own) => (own.from ? [parseAddress(own.from.email)] : []))]
    if (trial && senders.every((one) => one?.key === trial.address)) return { domain: trial.domain, isTrial: true }
    throw senderError(sender.domain, 'the From field', await lookups.stateOfDomain(id, sender.domain), trial?.address)
  }
  const settle = (domain: UsableDomain | null): SenderFacts | Promise<SenderFacts> =>
    domain ? { domain } : otherwise()
  const domain = lookups.findDomain(id, sender.domain, parentId)
  return domain instanceof Promise ? domain.then(settle) : settle(domain)
}

/** `problem` is for v2, `where` for SMTP, which also checks MAIL FROM. */
function invalidSender(problem: string, where: string, reason: string): ServiceError {
  return new ServiceError('senderInvalid', { values: { problem, where }, reason })
}

/** A message as it arrived over SMTP. */
export interface ArrivedSender {
  readonly principal: Principal
  /** The address in the From field. */
  readonly from: string
  /** MAIL FROM:<> */
  readonly nullSender: boolean
  readonly recipients: readonly string[]
}

type ReadDomains = Pick<SenderLookups, 'findDomain' | 'findDomainAbove' | 'stateOfDomain'>

/**
 * Returns the address that a message has to be sent from instead of its own; undefined if it stays as it is. A host's own notice, with the null
 * sender, gets the domain of its recipients if all of them are at active domains of the account, and its own may not send. Any other is sent
 * from the account's fallback sender, if it has one.
 */
export function senderInstead(message: ArrivedSender, lookups: ReadDomains): Promise<string | undefined> | undefined {
  return message.nullSender || message.principal.account.fallbackSender ? findSender(message, lookups) : undefined
}

async function findSender(
  { principal: { account }, from, nullSender, recipients }: ArrivedSender,
  lookups: ReadDomains,
): Promise<string | undefined> {
  const { id, parentId, hostsMaySend } = account
  const sender = parseAddress(from)
  if (!sender) return undefined
  const find = async (name: string) => lookups.findDomain(id, name, parentId)
  if (await find(sender.domain)) return undefined
  if ((nullSender || hostsMaySend) && (await lookups.findDomainAbove(id, sender.domain, parentId))) return undefined
  const domains = nullSender ? [...new Set(recipients.map((recipient) => parseAddress(recipient)?.domain))] : []
  const [first] = domains
  const found = await Promise.all(domains.map((name) => (name === undefined ? null : find(name))))
  if (first === undefined || found.includes(null)) return fallbackFor(account, sender.domain, lookups)
  return parseAddress(`${sender.local}@${first}`)?.text
}

/** Returns the address that the account sends from instead of one at a domain that it does not have; undefined if none is set. */
export async function fallbackFor(
  { id, parentId, fallbackSender }: Principal['account'],
  domain: string,
  { findDomain, stateOfDomain }: Pick<ReadDomains, 'findDomain' | 'stateOfDomain'>,
): Promise<string | undefined> {
  const fallback = fallbackSender ? parseAddress(fallbackSender) : undefined
  if (!fallback || (await stateOfDomain(id, domain)) !== null) return undefined
  return (await findDomain(id, fallback.domain, parentId)) ? fallback.text : undefined
}
