import { hash } from 'node:crypto'
import type { MailHost } from './mx.ts'

/** Which hosts of a domain a delivery is offered to, and in which order. */
export interface HostChoice {
  /** After an indeterminate attempt: the only host, unless it is no longer one of them. */
  readonly onlyHost: string | null
  /** The host to begin with, since the last attempt tried those before it; null: the best one. */
  readonly nextHost: string | null
  /** Number of the attempt, from 1. Each begins with another address of a host. */
  readonly attempt: number
  /** Identifies the delivery, whose order of equal hosts is the same in each attempt. */
  readonly seed: string
}

/**
 * The hosts in the order in which they are tried: by preference (RFC 5321 5.1), equal ones in an order of the delivery's own, which spreads the
 * load. It begins with the next host and ends with the one before it.
 */
export function inOrder(hosts: readonly MailHost[], { onlyHost, nextHost, seed }: HostChoice): readonly MailHost[] {
  const only = onlyHost === null ? undefined : hosts.find(({ name }) => name === onlyHost)
  if (only) return [only]
  if (hosts.length === 1) return hosts
  const sorted = hosts
    .map((host) => ({ host, rank: hash('sha256', `${seed} ${host.name}`) }))
    .sort((a, b) => a.host.preference - b.host.preference || (a.rank < b.rank ? -1 : 1))
    .map(({ host }) => host)
  const first = Math.max(
    0,
    sorted.findIndex(({ name }) => name === nextHost),
  )
  return [...sorted.slice(first), ...sorted.slice(0, first)]
}
