import type { Config } from '../../platform/config/config.ts'
import { isDatabaseTrouble, type Sql } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import { createPolicySource, type PolicySource } from './fetch-policy.ts'
import {
  forgetPolicies,
  noteFailure,
  noteUse,
  readPolicy,
  type StoredPolicy,
  storePolicy,
  takeDuePolicies,
} from './sts-store.ts'

/** The MTA-STS policy that is in effect for a domain. */
export interface DomainPolicy {
  readonly mode: 'testing' | 'enforce'
  /** Names and patterns of hosts. */
  readonly mx: readonly string[]
}

export interface StsPolicies {
  /**
   * Returns the policy in effect; undefined if there is none. Only the first call for a domain waits, at most ten seconds, for its DNS and
   * its policy host; after that the answer is renewed in the background. Throws if the database could not be read: a policy might be missed.
   */
  policyOf(domain: string): Promise<DomainPolicy | undefined>
  /** The policy that is stored, for output. */
  stored(domain: string): Promise<StoredPolicy | undefined>
  /** Fetches policies that are due to be refreshed. Returns how many. */
  refreshDue(options: { readonly limit: number; readonly signal: AbortSignal }): Promise<number>
  /** Deletes old policies. Returns how many. */
  forgetOld(): Promise<number>
}

/** Milliseconds. */
const TIMES = {
  /** For the first answer about a domain. */
  patience: 10_000,
  /** Between two queries of a domain's TXT record. */
  ask: 60_000,
  /** Between two reads of a stored policy, which another process may have fetched. */
  read: 600_000,
  /** Between two notes that a policy is used. */
  note: 3_600_000,
  /** After which a policy that is used is fetched again. */
  fresh: 86_400_000,
} as const
/** Maximum number of domains that are remembered. */
const MAX_DOMAINS = 50_000

/** The knowledge of this process about a domain. Times are those of performance.now(). */
interface Known {
  policy: (DomainPolicy & { readonly until: number }) | undefined
  row: StoredPolicy | undefined
  readAt: number
  askedAt: number
  notedAt: number
  isAsking: boolean
}

export interface StsOptions {
  readonly sql: Sql
  readonly log: Log
  readonly config: Pick<Config, 'dnsServers' | 'allowPrivateMx'>
}

export function createStsPolicies({ sql, log, config }: StsOptions): StsPolicies {
  let created: PolicySource | undefined
  const source = (): PolicySource => (created ??= createPolicySource(config))
  const domains = new Map<string, Known>()
  const starting = new Map<string, Promise<Known>>()

  async function read(domain: string, known: Known): Promise<void> {
    const row = await readPolicy(sql, domain)
    const now = performance.now()
    known.row = row
    known.readAt = now
    const isInEffect = row !== undefined && row.left > 0 && row.mode !== 'none'
    known.policy = isInEffect
      ? { mode: row.mode as DomainPolicy['mode'], mx: row.mx, until: now + row.left }
      : undefined
  }

  /** Compares the id in the DNS with the policy, and fetches it if it is new, or if `again`. A lost TXT record changes nothing. */
  async function ask(domain: string, known: Known, again = false): Promise<void> {
    known.isAsking = true
    try {
      const id = await source().idOf(domain)
      known.askedAt = performance.now()
      if (!id || (isCurrent(known, id) && !again)) return
      // Another process may have fetched it meanwhile.
      await read(domain, known)
      const { row } = known
      if (!again && (isCurrent(known, id) || (row && row.retryIn > 0))) return
      const found = await source().fetch(domain, id)
      if ('error' in found) {
        log.info({ domain, reason: found.error }, 'could not fetch an MTA-STS policy')
        await noteFailure(sql, domain, found.error)
      } else {
        await storePolicy(sql, domain, found)
      }
      await read(domain, known)
    } finally {
      known.isAsking = false
    }
  }

  /** The first answer about a domain: the stored policy, or that of its policy host. */
  async function start(domain: string): Promise<Known> {
    const long = Number.NEGATIVE_INFINITY
    const known: Known = {
      policy: undefined,
      row: undefined,
      readAt: long,
      askedAt: long,
      notedAt: long,
      isAsking: false,
    }
    await read(domain, known)
    if (known.policy === undefined && !(known.row && known.row.retryIn > 0)) await patiently(domain, known)
    // Not before: without its policy the domain would get mail as if it had none.
    remember(domain, known)
    return known
  }

  async function patiently(domain: string, known: Known): Promise<void> {
    const asking = ask(domain, known)
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, TIMES.patience)
    })
    // When it takes longer, it goes on in the background.
    asking.catch((err: unknown) => noteTrouble(err))
    await Promise.race([asking, timeout])
    clearTimeout(timer)
  }

  function noteTrouble(err: unknown): void {
    if (!isDatabaseTrouble(err)) log.error({ err }, 'could not renew an MTA-STS policy')
  }

  function remember(domain: string, known: Known): void {
    if (domains.size >= MAX_DOMAINS) {
      const oldest = domains.keys().next()
      if (!oldest.done) domains.delete(oldest.value)
    }
    domains.set(domain, known)
  }

  /** Does what is due, in the background. */
  async function renew(domain: string, known: Known): Promise<void> {
    const now = performance.now()
    if (known.row && now - known.notedAt > TIMES.note) {
      known.notedAt = now
      await noteUse(sql, domain)
    }
    if (now - known.readAt > TIMES.read) await read(domain, known)
    if (now - known.askedAt > TIMES.ask) await ask(domain, known, isStale(known, now))
  }

  return {
    async policyOf(domain) {
      let known = domains.get(domain)
      if (!known) {
        const begun = starting.get(domain) ?? start(domain).finally(() => starting.delete(domain))
        starting.set(domain, begun)
        known = await begun
      } else if (!known.isAsking) {
        // A policy that has expired has to be fetched before the next message, as if there had been none.
        if (known.policy && known.policy.until <= performance.now()) await patiently(domain, known)
        else void renew(domain, known).catch(noteTrouble)
      }
      const { policy } = known
      return policy && policy.until > performance.now() ? { mode: policy.mode, mx: policy.mx } : undefined
    },
    stored: (domain) => readPolicy(sql, domain),
    async refreshDue({ limit, signal }) {
      const due = await takeDuePolicies(sql, limit)
      for (const domain of due) {
        if (signal.aborted) break
        const id = await source().idOf(domain)
        if (!id) continue
        const found = await source().fetch(domain, id)
        if ('error' in found) await noteFailure(sql, domain, found.error)
        else await storePolicy(sql, domain, found)
      }
      return due.length
    },
    forgetOld: () => forgetPolicies(sql),
  }
}

/** Whether the policy that is in effect has the id of the TXT record. */
function isCurrent({ row, readAt }: Known, id: string): boolean {
  return row !== undefined && row.left > performance.now() - readAt && row.policyId === id
}

function isStale({ row, readAt }: Known, now: number): boolean {
  if (!row || row.left <= 0 || row.retryIn > 0) return false
  return row.age + (now - readAt) > TIMES.fresh
}
