import { domainOfSender, holderOf, requireAllowed, ServiceError } from '@postrider/core'
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { senderDomains } from '../smtp/sender-domains.ts'
import { messageNotifications } from './notification-parameters.ts'
import type { SessionContext } from './session-context.ts'
import { requireKnown, requireUtf8 } from './session-parameters.ts'
import { senderOf } from './session-sender.ts'

/** The parameters of the extensions that EHLO announces (RFC 1870, 6152, 6531, 4954, 3461). */
const MAIL_PARAMETERS = new Set(['SIZE', 'BODY', 'SMTPUTF8', 'AUTH', 'RET', 'ENVID'])

/** MAIL FROM. */
export async function mailFrom(
  context: SessionContext,
  address: SMTPServerAddress,
  session: SMTPServerSession,
): Promise<void> {
  const { core, budget, holders } = context
  const principal = await senderOf(context, session)
  holders.set(session, holderOf(principal))
  const { sends } = principal.rates
  if (sends) requireAllowed(await core.rateLimits.take(sends))
  core.messages.requireMaySend(principal)
  requireKnown(address, MAIL_PARAMETERS)
  messageNotifications(address)
  const { SIZE, SMTPUTF8 } = address.args || {}
  // Reset each time, since smtp-server keeps it from a MAIL that was rejected.
  session.envelope.smtpUtf8 = SMTPUTF8 === true
  senderDomains.delete(session)
  requireUtf8(address, session)
  const announced = Number(SIZE ?? 0)
  if (!budget.fits(announced, holderOf(principal))) {
    throw new ServiceError('overloaded', { reason: 'announced size exceeds the body budget' })
  }
  // The null sender (RFC 5321 4.5.5) is for automatic replies; their account's domain is checked in the From header.
  if (address.address === '') return
  const domain = await domainOfSender(core, principal, address.address, 'MAIL FROM')
  if (domain !== undefined) senderDomains.set(session, domain)
}
