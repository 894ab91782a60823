import { ConfigError, type Environment } from './config-error.ts'
import { hostName } from './values.ts'

/** One address without display name. It goes into header fields, so it has no character that needs quoting. */
const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/i
const OWN_MAILBOXES = /^(abuse|postmaster|fbl|dmarc|tlsrpt)@/i

/** The settings of the service's own mail. `hosts`: those at which the service itself takes mail. Throws ConfigError. */
export function serviceMail(
  env: Environment,
  hosts: readonly string[],
): { readonly operatorMail: string | undefined; readonly serviceDomain: string | undefined } {
  const serviceDomain = hostName(env, 'SERVICE_DOMAIN', '') || undefined
  const operatorMail = env.OPERATOR_MAIL || undefined
  if (operatorMail === undefined) return { operatorMail, serviceDomain }
  if (!ADDRESS.test(operatorMail)) throw new ConfigError('OPERATOR_MAIL', 'must be an email address')
  const host = operatorMail.slice(operatorMail.lastIndexOf('@') + 1).toLowerCase()
  if (OWN_MAILBOXES.test(operatorMail) && hosts.includes(host)) {
    throw new ConfigError('OPERATOR_MAIL', 'must be an address at another server: mail to this one comes back here')
  }
  if (serviceDomain === undefined) {
    throw new ConfigError('SERVICE_DOMAIN', 'must also be set: mail to OPERATOR_MAIL is sent from it')
  }
  return { operatorMail, serviceDomain }
}
