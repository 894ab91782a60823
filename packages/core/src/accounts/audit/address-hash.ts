import type { Secrets } from '../../platform/security/secrets.ts'

/**
 * Pseudonym of a recipient's address in the audit log. Its entries can only be found with the address and SECRET_KEY.
 */
export function addressHash(secrets: Secrets, key: string): string {
  return secrets.pseudonym('audit address', Buffer.from(key)).toString('hex').slice(0, 32)
}
