import type { Credits } from '../accounts/credits/index.ts'
import type { Auth, Principal } from '../accounts/keys/index.ts'
import type { RateLimits } from '../accounts/rate-limits/index.ts'
import type { ServiceMail } from '../messages/service-mail.ts'
import type { Sql } from '../platform/database/database.ts'
import type { DatabaseClock } from '../platform/database/database-clock.ts'
import type { Log } from '../platform/process/log.ts'
import { createPasswordCheck, type PasswordCost } from '../platform/security/passwords.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { createBackground } from './background.ts'
import { createFirstLink, type FirstLink } from './first-link.ts'
import { createInvitations, type Invitations } from './invitations.ts'
import { forgetLinks } from './links.ts'
import { counted } from './log-in/count-log-in.ts'
import { forgetNetworks } from './log-in/known-networks.ts'
import { type LogIn, type LogInResult, logIn } from './log-in/log-in.ts'
import { createLogInLimits } from './log-in/log-in-limits.ts'
import { createPasskeys, type Passkeys } from './log-in/passkeys.ts'
import { createPasswordReset, type PasswordReset } from './log-in/password-reset.ts'
import { isFresh, type Reauthentication, reauthenticate } from './log-in/reauthenticate.ts'
import { completeLogIn, type SecondFactorRequest } from './log-in/second-factor.ts'
import { createTotp, type Totp } from './log-in/totp.ts'
import { createPeopleMail } from './mail.ts'
import { createUsers, type Users } from './manage-users.ts'
import { createMembers, type Members } from './members.ts'
import { createOwnerNotices, type OwnerNotices } from './notices/owner-notices.ts'
import { createOidc, type Oidc, type OidcSettings } from './oidc/oidc.ts'
import { createOperators, lookAs, type Operators } from './operators.ts'
import { type Rights, type Role, rightsOf } from './roles.ts'
import { createSessions, type Session, type Sessions } from './sessions.ts'
import { createSignUp, type SignUp, type SignUpSetting } from './sign-up.ts'

export { NOTICE_KINDS, type NoticeKind } from '../accounts/notices/note-owners.ts'
export type { FirstLink } from './first-link.ts'
export type { Invitation, Invitations, OpenInvitation } from './invitations.ts'
export type { LogIn, LogInResult, SecondFactor } from './log-in/log-in.ts'
export type { PasskeyLogIn } from './log-in/passkey-log-in.ts'
export type { Passkey, Passkeys } from './log-in/passkeys.ts'
export type { PasswordReset } from './log-in/password-reset.ts'
export type { Reauthentication } from './log-in/reauthenticate.ts'
export type { SecondFactorRequest } from './log-in/second-factor.ts'
export type { Totp } from './log-in/totp.ts'
export { type LinkPage, linkTo } from './mail.ts'
export type { UserSummary, Users } from './manage-users.ts'
export type { Member, Members } from './members.ts'
export type { Attention, OwnerNotices } from './notices/owner-notices.ts'
export type { Oidc, OidcRefusal, OidcResult } from './oidc/oidc.ts'
export type { Operators } from './operators.ts'
export type { AccountOfUser, Client, LogInMethod, NewPerson, User } from './person.ts'
export { type MemberRole, PEOPLE_RIGHTS, type PeopleRight, type Rights, ROLES, type Role, rightsOf } from './roles.ts'
export type { Session, SessionSummary, Sessions } from './sessions.ts'
export type { SignUp } from './sign-up.ts'

/** People who log in to the dashboard: users, sessions, roles, and how they prove who they are. */
export interface People {
  readonly firstLink: FirstLink
  readonly sessions: Sessions
  readonly members: Members
  readonly operators: Operators
  readonly users: Users
  readonly invitations: Invitations
  readonly signUp: SignUp
  readonly passwordReset: PasswordReset
  readonly totp: Totp
  readonly passkeys: Passkeys
  readonly oidc: Oidc
  readonly notices: OwnerNotices
  /** See log-in.ts. At most 5 failures per name and network in 15 minutes, and 50 per network and hour. */
  logIn(request: LogIn): Promise<LogInResult>
  /** See second-factor.ts. */
  secondFactor(request: SecondFactorRequest): Promise<LogInResult>
  /** Checks the password again, for what must not be done with a stolen session. */
  reauthenticate(session: Session, password: string, address: string): Promise<Reauthentication>
  /** Whether the user of the session proved who they are within 10 minutes. */
  isFresh(session: Session): boolean
  /** See operators.ts. */
  lookAs(session: Session, accountId: number | null, address: string): Promise<void>
  rights(role: Role): Rights
  /**
   * The user of a session as the caller of operations of an account, with the scopes of their role. Null if the account is not
   * among those of the session.
   */
  principal(session: Session, accountId: number): Promise<Principal | null>
  /** Deletes a batch of expired sessions, links and notices. Returns how many. */
  forgetOld(): Promise<number>
  /** Waits until mail that was requested has been accepted. */
  close(): Promise<void>
}

export interface PeopleDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly rateLimits: RateLimits
  readonly auth: Auth
  readonly credits: Credits
  readonly clock: DatabaseClock
  readonly serviceMail: ServiceMail
  readonly log: Log
  readonly config: PeopleSettings
}

export interface PeopleSettings {
  readonly require2fa: boolean
  readonly signUp: SignUpSetting
  readonly publicUrl: string
  readonly oidc: OidcSettings
}

export function createPeople(dependencies: PeopleDependencies, passwordCost: PasswordCost): People {
  const { sql, secrets, rateLimits, auth, credits, clock, config, serviceMail, log } = dependencies
  const passwords = createPasswordCheck(passwordCost)
  const limits = createLogInLimits(rateLimits)
  const sessions = createSessions({ sql, secrets, require2fa: config.require2fa })
  const mail = createPeopleMail({ serviceMail, publicUrl: config.publicUrl, log })
  const background = createBackground((err) => log.warn({ err }, 'could not send a link'))
  const common = { sql, clock, passwords, limits, sessions, mail, background }
  const loggingIn = { sql, clock, passwords, limits, sessions, oidcOnly: config.oidc.only }
  const oidc = createOidc({
    ...loggingIn,
    secrets,
    log,
    publicUrl: config.publicUrl,
    settings: config.oidc,
    signUp: config.signUp,
  })
  const notices = createOwnerNotices({ sql, credits, serviceMail, publicUrl: config.publicUrl })
  return {
    firstLink: createFirstLink({ sql, passwords, sessions }),
    sessions,
    members: createMembers(sql, sessions),
    operators: createOperators(sql, sessions),
    users: createUsers({ sql, passwords, sessions, allowChange: limits.passwordChange }),
    invitations: createInvitations({
      ...common,
      closed: config.signUp === 'closed' || config.oidc.only,
      allowMail: limits.invitation,
    }),
    signUp: createSignUp({ ...common, isOpen: config.signUp === 'open' && !config.oidc.only }),
    passwordReset: createPasswordReset({ ...common, byHandOnly: config.oidc.only }),
    totp: createTotp({ ...common, secrets, issuer: new URL(config.publicUrl).hostname }),
    passkeys: createPasskeys({ ...loggingIn, secrets, publicUrl: config.publicUrl }),
    oidc: { ...oidc, finish: (request) => counted('openid', oidc.finish(request)) },
    notices,
    secondFactor: (request) => counted('second-factor', completeLogIn({ ...loggingIn, secrets }, request)),
    logIn: (request) => counted('password', logIn(loggingIn, request)),
    reauthenticate: (session, password, address) => reauthenticate(loggingIn, session, { password, address }),
    isFresh: (session) => isFresh(session, clock),
    lookAs: (session, accountId, address) => lookAs({ sql, sessions }, session, accountId, address),
    rights: rightsOf,
    async principal(session, accountId) {
      const account = session.accounts.find(({ id }) => id === accountId)
      return account ? auth.principalOfUser(accountId, rightsOf(account.role).scopes) : null
    },
    close: background.settled,
    forgetOld: async () =>
      (await sessions.forgetOld()) +
      (await forgetLinks(sql)) +
      (await forgetNetworks(sql)) +
      (await notices.forgetOld()),
  }
}
