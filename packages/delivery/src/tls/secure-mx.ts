import { createHash } from 'node:crypto'
import { type Dane, type Dnssec, daneFor, type HostDane } from '@postrider/core'

/** The MX records of a domain, as c-ares returns them. */
export interface MxRecords {
  readonly records: readonly { readonly exchange: string; readonly priority: number }[]
  /**
   * The domain, and the name that its CNAME record leads to, if the resolver has validated the answer: only then the TLSA records of the
   * hosts say anything (RFC 7672 2.2.1).
   */
  readonly secureFor?: readonly string[]
}

/** Where the MX records of domains come from. */
export interface MxLookup {
  /** Throws an error with the code of c-ares. `accountId`: the one for whose mail it is looked up. */
  lookUp(domain: string, accountId?: number): Promise<MxRecords>
}

export interface SecureMxOptions {
  readonly dnssec: Pick<Dnssec, 'query' | 'state'>
  /** Without validation. */
  readonly plain: MxLookup['lookUp']
}

/** Queries the validating resolver if there is one that validates; while it is silent, the lookup fails. */
export function createMxLookup({ dnssec, plain }: SecureMxOptions): MxLookup {
  return {
    async lookUp(domain, accountId) {
      const state = await dnssec.state()
      if (state === 'unset' || state === 'does-not') return plain(domain)
      if (state === 'silent') throw coded('the DNSSEC resolver does not answer')
      const answer = await dnssec.query('MX', domain, accountId)
      if (answer.kind === 'failed') throw coded(answer.problem)
      if (answer.kind === 'none' && !answer.exists) throw coded('ENOTFOUND')
      const records =
        answer.kind === 'none'
          ? []
          : answer.values.map(({ exchange, preference = 0 }) => ({ exchange, priority: preference }))
      return { records, ...(answer.isSecure ? { secureFor: [...new Set([domain, answer.name])] } : {}) }
    },
  }
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code })
}

interface DaneHost {
  readonly name: string
  readonly dane?: HostDane
}

/** The hosts with what the DNS says of their certificates. */
export async function withDane<H extends DaneHost>(
  hosts: readonly H[],
  domains: readonly string[],
  { dane, accountId }: { readonly dane: Dane; readonly accountId: number | undefined },
): Promise<readonly H[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const found = daneFor(await dane.ofHost(host.name, accountId), domains)
      return found.kind === 'none' ? host : { ...host, dane: found }
    }),
  )
}

/** The digest of what the DNS says of the certificates of all hosts of a domain; undefined if it says nothing. */
export function daneDigest(hosts: readonly DaneHost[]): string | undefined {
  if (hosts.every(({ dane }) => dane === undefined)) return undefined
  const lines = hosts.map(({ name, dane }) => `${name} ${daneText(dane)}`)
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)
}

/** Identifies what is demanded of the certificate of one host. */
export function daneText(dane: HostDane | undefined): string {
  return dane === undefined ? 'none' : dane.kind === 'usable' ? dane.digest : dane.kind
}
