import type { Principal } from '../../accounts/keys/api-key.ts'
import { parseAddress } from '../../mime/address.ts'
import { readMailboxes } from '../../mime/mailboxes.ts'
import { identityRuleOf, isResentField, isWrittenBy } from '../../submission/identity-fields.ts'
import type { SenderLookups } from './sender-rules.ts'

/** A header field; `name` is in lower case. */
export interface NamedField {
  readonly name: string
  readonly value: string
}

export interface Named<Field extends NamedField> {
  readonly principal: Principal
  /** Of one message: those of the table in identity-fields.ts, and the other Resent fields. */
  readonly fields: readonly Field[]
  /** MAIL FROM:<> */
  readonly nullSender: boolean
}

type Lookups = Pick<SenderLookups, 'findDomain' | 'findDomainAbove' | 'trialSender'>

/** Octets and addresses of a field, and fields, that are looked at: no mail has more. */
const MAX_FIELD = 8192
const MAX_ADDRESSES = 10
const MAX_FIELDS = 20

/**
 * Returns the fields in another's name, or in that of this service, whose names are `hosts`; signatures are another matter (decision 45). With a foreign
 * Resent-From or Resent-Sender, all Resent fields are among them.
 */
export async function foreignFields<Field extends NamedField>(
  { principal, fields, nullSender }: Named<Field>,
  lookups: Lookups,
  hosts: ReadonlySet<string>,
): Promise<readonly Field[]> {
  const own = fields.filter(({ name }) => identityRuleOf(name) === 'own')
  const areFew = own.length <= MAX_FIELDS
  const mayStay = await Promise.all(
    own.map(({ value }) => areFew && namesOwn(value, { principal, nullSender }, lookups)),
  )
  const foreign = new Set(own.filter((_, at) => !mayStay[at]))
  const isResent = [...foreign].some(({ name }) => isResentField(name))
  return fields.filter((field) => {
    const rule = identityRuleOf(field.name)
    if (rule === 'elsewhere') return isWrittenBy(hosts, field.name, field.value)
    return rule === 'removed' || foreign.has(field) || (isResent && isResentField(field.name))
  })
}

/** Whether text of an address field has only addresses from which the account may send, by the rules of From (sender-rules.ts). */
export async function namesOwn(
  text: string,
  { principal: { account, restrictions }, nullSender }: Pick<Named<NamedField>, 'principal' | 'nullSender'>,
  { findDomain, findDomainAbove, trialSender }: Lookups,
): Promise<boolean> {
  if (text.length > MAX_FIELD) return false
  const { mailboxes, plain } = readMailboxes(text)
  if (!plain || mailboxes.length === 0 || mailboxes.length > MAX_ADDRESSES) return false
  const { id, parentId, hostsMaySend, trialAddress } = account
  for (const { email } of mailboxes) {
    const address = parseAddress(email)
    if (!address) return false
    const above = hostsMaySend || nullSender
    const domain =
      (await findDomain(id, address.domain, parentId)) ??
      (above ? await findDomainAbove(id, address.domain, parentId) : null)
    const isTrial = domain === null && trialAddress && (await trialSender())?.address === address.key
    if (!domain && !isTrial) return false
    if (domain && restrictions?.senderDomains && !restrictions.senderDomains.includes(domain.name)) return false
  }
  return true
}
