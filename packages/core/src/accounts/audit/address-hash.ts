import type { Secrets } from '../../platform/secrets.ts'

/** What stands in the audit log for a recipient's address: who has the address and SECRET_KEY finds its entries, nobody else. */
export function addressHash(secrets: Secrets, key: string): string {
  return secrets.mac('audit address', Buffer.from(key)).toString('hex').slice(0, 32)
}
