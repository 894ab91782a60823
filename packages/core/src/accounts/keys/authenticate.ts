import { ServiceError } from '../../platform/errors.ts'
import type { Principal } from './api-key.ts'
import type { Holder } from './key-holders.ts'
import type { LastUsed } from './last-used.ts'

export interface AuthenticateDependencies {
  readonly holderOf: (secret: string, address: string) => Promise<Holder>
  readonly actingFor: (principal: Principal, username: string) => Promise<Principal>
  readonly lastUsed: LastUsed
}

export async function authenticate(
  { holderOf, actingFor, lastUsed }: AuthenticateDependencies,
  secret: string | undefined,
  address: string,
  onBehalfOf: string | undefined,
): Promise<Principal> {
  if (!secret) throw new ServiceError('keyMissing')
  const principal = principalAt(await holderOf(secret, address), address, lastUsed)
  return onBehalfOf ? actingFor(principal, onBehalfOf) : principal
}

/** Throws addressNotAllowed, accountClosed, accountSuspended. */
export function principalAt(holder: Holder, address: string, lastUsed: LastUsed): Principal {
  const { principal, networkList, disabled, closed } = holder
  if (!networkList.empty && !networkList.has(address)) {
    throw new ServiceError('addressNotAllowed', { reason: `key ${principal.keyId}` })
  }
  if (closed) throw new ServiceError('accountClosed', { reason: `key ${principal.keyId}` })
  if (disabled) throw new ServiceError('accountSuspended', { reason: `subaccount of key ${principal.keyId}` })
  lastUsed.note(principal.keyId)
  return principal
}
