import { ServiceError } from '../../platform/errors.ts'
import { allows, type Principal, type Scope } from './api-key.ts'

/** Throws scopeMissing unless the principal's key has the scope. */
export function requireScope(principal: Pick<Principal, 'keyId' | 'scopes'>, scope: Exclude<Scope, 'all'>): void {
  if (!allows(principal.scopes, scope)) {
    throw new ServiceError('scopeMissing', { reason: `key ${principal.keyId} lacks ${scope}` })
  }
}
