import type { Config } from '../../config/config.ts'
import type { Log } from '../../process/log.ts'
import { createSecureDns, type SecureDns } from './secure-dns.ts'

export type { MxData, SecureAnswer, SecureDns, TlsaData } from './secure-dns.ts'

/**
 * Whether the resolver validates DNSSEC: `validates`: it says of a signed name that its answer is authentic; `does-not`: it does not;
 * `silent`: it gave no answer; `unset`: DNSSEC_RESOLVER is not set.
 */
export type Validation = 'validates' | 'does-not' | 'silent' | 'unset'

export interface Dnssec extends SecureDns {
  /** Asks the resolver, and logs a change. Never rejects. */
  check(): Promise<Validation>
  /**
   * The result of the last check; the first call waits for a check. A resolver that is silent is checked again, every ten seconds at most:
   * until it answers, what depends on it has to wait.
   */
  state(): Promise<Validation>
}

/** The root zone has been signed since 2010, so that each resolver that validates can validate its name servers. */
const SIGNED_NAME = '.'
const CHECK_AGAIN_MS = 10_000

export function createDnssec({
  config: { dnssecResolver: resolver },
  log,
}: {
  readonly config: Pick<Config, 'dnssecResolver'>
  readonly log: Log
}): Dnssec {
  if (resolver === undefined) {
    const unset = async (): Promise<Validation> => 'unset'
    return {
      query: async () => ({ kind: 'failed', problem: 'DNSSEC_RESOLVER is not set' }),
      check: unset,
      state: unset,
    }
  }
  const dns = createSecureDns(resolver)
  const name = `${resolver.address}:${resolver.port}`
  let found: Validation | undefined
  let checking: Promise<Validation> | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  async function check(): Promise<Validation> {
    const answer = await dns.query('NS', SIGNED_NAME)
    const now: Validation =
      answer.kind === 'failed' ? 'silent' : answer.kind === 'records' && answer.isSecure ? 'validates' : 'does-not'
    checkedAt = performance.now()
    if (now !== found) note(now, answer.kind === 'failed' ? answer.problem : undefined)
    found = now
    return now
  }

  function note(now: Validation, reason: string | undefined): void {
    if (now === 'validates') log.info({ resolver: name }, 'DNSSEC_RESOLVER validates: DANE is used')
    else if (now === 'does-not')
      log.error({ resolver: name }, 'DNSSEC_RESOLVER does not validate the root zone: DANE is not used')
    else log.error({ resolver: name, reason }, 'DNSSEC_RESOLVER does not answer: mail waits until it does')
  }

  const checked = (): Promise<Validation> =>
    (checking ??= check().finally(() => {
      checking = undefined
    }))

  return {
    query: dns.query,
    check: checked,
    async state() {
      if (found === undefined) return checked()
      if (found === 'silent' && performance.now() - checkedAt > CHECK_AGAIN_MS) return checked()
      return found
    },
  }
}
