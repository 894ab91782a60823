import type { ByteBudget, Core, Log } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import type { SessionLimits } from '../smtp/session-limits.ts'
import type { NetworkSenders } from './network-senders.ts'

export interface SessionDependencies {
  readonly core: Core
  readonly log: Log
  readonly budget: ByteBudget
  readonly limits: SessionLimits
  readonly networks: NetworkSenders
}

/** Shared by the SMTP commands of all sessions. */
export interface SessionContext extends SessionDependencies {
  /** Number of failed logins of each session. */
  readonly failedLogins: WeakMap<SMTPServerSession, number>
  /** Holder of the body budget for the message in progress, set by MAIL. */
  readonly holders: WeakMap<SMTPServerSession, number>
}

export function createSessionContext(dependencies: SessionDependencies): SessionContext {
  return {
    ...dependencies,
    failedLogins: new WeakMap(),
    holders: new WeakMap(),
  }
}
