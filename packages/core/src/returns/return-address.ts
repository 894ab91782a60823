import { type ReturnPathTarget, readMark } from '../delivery/return-path.ts'
import type { Config } from '../platform/config/config.ts'
import type { Secrets } from '../platform/security/secrets.ts'

/**
 * The operator's own addresses: for complaints of feedback loops, those that RFC 2142 and RFC 5321 4.5.1 require of a host that receives
 * mail, and for aggregate reports.
 */
const ROLES = ['fbl', 'abuse', 'postmaster', 'dmarc', 'tlsrpt'] as const
export type Role = (typeof ROLES)[number]

/** Whether mail to it is an aggregate report, which has to be read as a whole. */
export function isReportRole(role: Role | null): role is 'dmarc' | 'tlsrpt' {
  return role === 'dmarc' || role === 'tlsrpt'
}

/** Whether the address has the name of one of the operator's, at any host. */
export function isRoleName(address: string): boolean {
  const local = address.slice(0, Math.max(address.lastIndexOf('@'), 0)).toLowerCase()
  return ROLES.some((one) => one === local)
}

/** An address that mail is taken for. */
export type ReturnAddress =
  | { readonly kind: 'return-path'; readonly target: ReturnPathTarget }
  | { readonly kind: 'role'; readonly role: Role }

export interface ReturnAddressReader {
  readonly secrets: Secrets
  readonly config: Pick<Config, 'returnPathHost' | 'heloName'>
  readonly now: () => number
}

/**
 * Returns what mail to this address is about; undefined if none is taken for it. A return path may have any host, because it is signed; the
 * hosts of the operator's addresses are RETURN_PATH_HOST and HELO_NAME.
 */
export function readReturnAddress(
  { secrets, config, now }: ReturnAddressReader,
  address: string,
): ReturnAddress | undefined {
  const at = address.lastIndexOf('@')
  const [local, host] = [address.slice(0, Math.max(at, 0)).toLowerCase(), address.slice(at + 1).toLowerCase()]
  const target = readMark(secrets, 'returnPath', { local, now: now() })
  if (target) return { kind: 'return-path', target }
  const role = ROLES.find((one) => one === local)
  const isOwn = host === config.returnPathHost || host === config.heloName
  return role && isOwn ? { kind: 'role', role } : undefined
}
