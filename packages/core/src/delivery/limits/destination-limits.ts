import type { Provider } from '../providers/provider-file.ts'
import type { MessageRate } from '../providers/units.ts'
import type { Override } from './overrides.ts'

/** Messages after which a session is closed, unless the provider allows fewer, so that load balancers can balance. */
const MESSAGES_PER_CONNECTION = 1000

/** The limits of a destination, as they are now. */
export interface DestinationLimits {
  /** Concurrent connections of all workers. */
  readonly connections: number
  readonly messagesPerConnection: number
  /** Messages that all workers together may offer. */
  readonly rate: MessageRate | undefined
  /** No mail is offered. */
  readonly isPaused: boolean
  /** Accounts whose mail is not offered. */
  readonly pausedAccounts: ReadonlySet<number>
}

interface Sources {
  /** Undefined if the destination is a site that belongs to none of the providers. */
  readonly provider: Provider | undefined
  /** Connections to a site that belongs to none of the providers, or to a provider without a limit. */
  readonly siteConnections: number
  /** The overrides of the destination. */
  readonly overrides: readonly Override[]
}

/** Returns the strictest of the limits of a destination. */
export function effectiveLimits({ provider, siteConnections, overrides }: Sources): DestinationLimits {
  const general = overrides.filter(({ accountId }) => accountId === null)
  const least = (setting: Override['setting'], base: number): number =>
    general.reduce((most, one) => (one.setting === setting ? Math.min(most, one.value ?? most) : most), base)
  const pauses = overrides.filter(({ setting }) => setting === 'pause')
  return {
    connections: least('connections', provider?.connections ?? siteConnections),
    messagesPerConnection: least('messagesPerConnection', provider?.messagesPerConnection ?? MESSAGES_PER_CONNECTION),
    rate: slowest([provider?.rate, ...general.map(rateOf)]),
    isPaused: pauses.some(({ accountId }) => accountId === null),
    pausedAccounts: new Set(pauses.flatMap(({ accountId }) => accountId ?? [])),
  }
}

function rateOf({ setting, value, seconds }: Override): MessageRate | undefined {
  if (setting !== 'rate' || value === null || seconds === null) return undefined
  return { messages: value, seconds: seconds as MessageRate['seconds'] }
}

function slowest(rates: readonly (MessageRate | undefined)[]): MessageRate | undefined {
  const given = rates.filter((rate) => rate !== undefined)
  return given.sort((a, b) => a.messages / a.seconds - b.messages / b.seconds)[0]
}
