import { type ByteBudget, type Config, type Core, type Log, NetworkList } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import type { SessionLimits } from '../smtp/session-limits.ts'

export interface SessionDependencies {
  readonly core: Core
  readonly log: Log
  readonly budget: ByteBudget
  readonly limits: SessionLimits
  readonly trusted: Config['relayTrusted']
}

/** Shared by the SMTP commands of all sessions. */
export interface SessionContext extends SessionDependencies {
  readonly trustedNetworks: NetworkList
  /** Number of failed logins of each session. */
  readonly failedLogins: WeakMap<SMTPServerSession, number>
  /** Number of commands without authentication of each session. */
  readonly unauthenticated: WeakMap<SMTPServerSession, number>
  /** Holder of the body budget for the message in progress, set by MAIL. */
  readonly holders: WeakMap<SMTPServerSession, number>
}

export function createSessionContext(dependencies: SessionDependencies): SessionContext {
  return {
    ...dependencies,
    trustedNetworks: new NetworkList(dependencies.trusted?.networks ?? []),
    failedLogins: new WeakMap(),
    unauthenticated: new WeakMap(),
    holders: new WeakMap(),
  }
}
