import { asksDns, type Config } from '../config/config.ts'
import { withDns } from './dns-lookup.ts'
import { plainAddress } from './networks.ts'

const DEADLINE_MS = 5000
const ADDRESSES_AGE_MS = 600_000
const RETRY_MS = 30_000

export type HostAddressesConfig = Pick<Config, 'heloName' | 'delivery' | 'dnsServers'>

/** Returns the addresses of HELO_NAME, from which receivers see mail without sources; at most ten minutes old. */
export type HostAddresses = () => Promise<readonly string[]>

export function createHostAddresses(config: HostAddressesConfig, now: () => number): HostAddresses {
  let known: readonly string[] = []
  let until = Number.NEGATIVE_INFINITY
  return async () => {
    if (now() < until || !asksDns(config)) return known
    const { dnsServers: servers, heloName } = config
    const answers = await withDns({ servers, deadlineMs: DEADLINE_MS }, (query) =>
      Promise.all([query('A', heloName), query('AAAA', heloName)]),
    )
    // An address that is not known at the moment is still the same.
    const isKnown = answers.every(({ kind }) => kind === 'records')
    until = now() + (isKnown ? ADDRESSES_AGE_MS : RETRY_MS)
    if (isKnown) {
      known = answers.flatMap((answer) => (answer.kind === 'records' ? answer.values.map(plainAddress) : []))
    }
    return known
  }
}
