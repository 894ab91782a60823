import { invalidParameter } from '../../platform/errors.ts'
import { parseNetworks } from '../../platform/net/networks.ts'
import { SCOPES, type Scope } from './api-key.ts'

/** Throws parameterInvalid. */
export function validName(name: string): string {
  const clean = name.trim()
  if (clean.length > 100) throw invalidParameter('name', 'must have at most 100 characters')
  if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'must not contain control characters')
  return clean
}

/** Throws parameterInvalid. */
export function validScopes(scopes: readonly string[]): Scope[] {
  for (const scope of scopes) {
    if (SCOPES.includes(scope as Scope)) continue
    const finer = scope.includes('.')
      ? "; SendGrid's names, such as mail.send, can only be granted with POST /v3/api_keys"
      : ''
    throw invalidParameter('scopes', `may contain only ${SCOPES.join(', ')}${finer}`)
  }
  return [...new Set(scopes)] as Scope[]
}

const MAX_NETWORKS = 100

/** Throws parameterInvalid. */
export function validNetworks(networks: readonly string[]): string[] {
  if (networks.length > MAX_NETWORKS) throw invalidParameter('networks', `must have at most ${MAX_NETWORKS} entries`)
  try {
    return parseNetworks(networks)
  } catch (error) {
    throw invalidParameter('networks', (error as Error).message)
  }
}
