import type { Auth, Principal } from '../accounts/keys/index.ts'
import type { RateLimits } from '../accounts/rate-limits/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Sql } from '../platform/database/database.ts'
import { createPasswordCheck } from '../platform/passwords.ts'
import type { Secrets } from '../platform/secrets.ts'
import { createFirstLink, type FirstLink } from './first-link.ts'
import { forgetLinks } from './links.ts'
import { type LogIn, type LogInResult, logIn } from './log-in.ts'
import { createLogInLimits } from './log-in-limits.ts'
import { createUsers, type Users } from './manage-users.ts'
import { createMembers, type Members } from './members.ts'
import { createOperators, lookAs, type Operators } from './operators.ts'
import { type Reauthentication, reauthenticate } from './reauthenticate.ts'
import { type Rights, type Role, rightsOf } from './roles.ts'
import { createSessions, type Session, type Sessions } from './sessions.ts'

export type { FirstLink, NewPerson } from './first-link.ts'
export type { LogIn, LogInResult, SecondFactor } from './log-in.ts'
export type { UserSummary, Users } from './manage-users.ts'
export type { Member, Members } from './members.ts'
export type { Operators } from './operators.ts'
export type { AccountOfUser, Client, LogInMethod, User } from './person.ts'
export type { Reauthentication } from './reauthenticate.ts'
export { type MemberRole, PEOPLE_RIGHTS, type PeopleRight, type Rights, ROLES, type Role, rightsOf } from './roles.ts'
export type { Session, SessionSummary, Sessions } from './sessions.ts'

/** People who log in to the dashboard: users, sessions, roles, and how they prove who they are. */
export interface People {
  readonly firstLink: FirstLink
  readonly sessions: Sessions
  readonly members: Members
  readonly operators: Operators
  readonly users: Users
  /** See log-in.ts. At most 5 failures per name and network in 15 minutes, and 50 per network and hour. */
  logIn(request: LogIn): Promise<LogInResult>
  /** Checks the password again, for what must not be done with a stolen session. */
  reauthenticate(session: Session, password: string, address: string): Promise<Reauthentication>
  /** See operators.ts. */
  lookAs(session: Session, accountId: number | null, address: string): Promise<void>
  rights(role: Role): Rights
  /**
   * The user of a session as the caller of operations of an account, with the scopes of their role. Null if the account is not
   * among those of the session.
   */
  principal(session: Session, accountId: number): Promise<Principal | null>
  /** Deletes a batch of expired sessions and links. Returns how many. */
  forgetOld(): Promise<number>
}

export interface PeopleDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly rateLimits: RateLimits
  readonly auth: Auth
  readonly clock: Clock
  readonly config: PeopleSettings
}

export interface PeopleSettings {
  readonly require2fa: boolean
}

export function createPeople({ sql, secrets, rateLimits, auth, clock, config }: PeopleDependencies): People {
  const passwords = createPasswordCheck()
  const limits = createLogInLimits(rateLimits)
  const sessions = createSessions({ sql, secrets, require2fa: config.require2fa })
  const loggingIn = { sql, clock, passwords, limits, sessions, oidcOnly: false }
  return {
    firstLink: createFirstLink({ sql, passwords, sessions }),
    sessions,
    members: createMembers(sql, sessions),
    operators: createOperators(sql, sessions),
    users: createUsers({ sql, passwords, sessions }),
    logIn: (request) => logIn(loggingIn, request),
    reauthenticate: (session, password, address) => reauthenticate(loggingIn, session, { password, address }),
    lookAs: (session, accountId, address) => lookAs({ sql, sessions }, session, accountId, address),
    rights: rightsOf,
    async principal(session, accountId) {
      const account = session.accounts.find(({ id }) => id === accountId)
      return account ? auth.principalOfUser(accountId, rightsOf(account.role).scopes) : null
    },
    forgetOld: async () => (await sessions.forgetOld()) + (await forgetLinks(sql)),
  }
}
