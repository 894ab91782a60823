import type { Actor } from '../../accounts/audit/index.ts'
import type { StoredDomain } from '../store.ts'
import { type CheckOptions, checkDomain } from './check-domain.ts'

export interface DomainChecker {
  check(domain: StoredDomain, by: Actor, signal?: AbortSignal): Promise<StoredDomain>
  /** Concurrent checks of a domain share one lookup, so that calls cannot flood a name server. */
  checkNow(domain: StoredDomain, by: Actor): Promise<StoredDomain>
}

export interface DomainCheckerOptions extends Omit<CheckOptions, 'by' | 'signal'> {
  /** Called after each check, which ends when it has resolved. */
  readonly onChecked: (domain: StoredDomain) => Promise<void>
}

export function createDomainChecker({ onChecked, ...options }: DomainCheckerOptions): DomainChecker {
  const checking = new Map<number, Promise<StoredDomain>>()
  async function check(domain: StoredDomain, by: Actor, signal?: AbortSignal): Promise<StoredDomain> {
    const checked = await checkDomain(domain, { ...options, by, signal })
    await onChecked(checked)
    return checked
  }
  return {
    check,
    checkNow(domain, by) {
      const pending = checking.get(domain.id) ?? check(domain, by).finally(() => checking.delete(domain.id))
      checking.set(domain.id, pending)
      return pending
    },
  }
}
