import { ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import { addressKey } from '../../mime/address.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { PasswordCheck } from '../../platform/security/passwords.ts'
import type { Background } from '../background.ts'
import { makeLink, peekLink, takeLink } from '../links.ts'
import type { PeopleMail } from '../mail.ts'
import { setPassword } from '../manage-users.ts'
import type { Client } from '../person.ts'
import { deleteSessions, type SessionKeeper } from '../sessions.ts'
import { requireUser, selectUser, selectUserByEmail } from '../users.ts'
import { requireUncommon } from './common-passwords.ts'
import { continueLogIn, type LogInResult, tooMany } from './log-in.ts'
import type { LogInLimits } from './log-in-limits.ts'

export interface PasswordReset {
  /**
   * Sends a link to the user with this address. The answer is the same, after the same time, for an unknown address: the mail is
   * sent afterwards.
   */
  request(email: string, client: Client): Promise<{ kind: 'sent' } | { kind: 'too-many'; until: Date }>
  /** A link for the operator to hand over, valid for 24 hours, also with OIDC_ONLY. Throws parameterInvalid (user). */
  link(userId: number): Promise<{ url: string; expiresAt: Date }>
  isValid(token: string): Promise<boolean>
  /**
   * Sets the password, ends all sessions of the user, and logs them in; a second factor is required as usual. Throws linkInvalid
   * and passwordWeak, after which the link remains usable.
   */
  use(token: string, password: string, client: Client): Promise<LogInResult>
}

export interface PasswordResetDependencies {
  readonly sql: Sql
  readonly clock: Clock
  readonly mail: PeopleMail
  readonly background: Background
  readonly limits: LogInLimits
  readonly passwords: PasswordCheck
  readonly sessions: SessionKeeper
  /** OIDC_ONLY: only links that an operator handed over work, so that a broken provider locks no operator out. */
  readonly byHandOnly: boolean
}

const MINUTES = 60
const MINUTES_BY_HAND = 24 * 60

export function createPasswordReset(dependencies: PasswordResetDependencies): PasswordReset {
  const { sql, clock, mail, background, limits, passwords, sessions } = dependencies

  async function sendLink(emailKey: string): Promise<void> {
    const user = await selectUserByEmail(sql, emailKey)
    if (dependencies.byHandOnly || !user || user.disabled || user.email === null) return
    const { token } = await makeLink(sql, {
      purpose: 'reset',
      userId: user.id,
      minutes: MINUTES,
      data: { mailed: true },
    })
    const text =
      `Set a new password for ${user.email} here:\n\n${mail.url('reset', token)}\n\nThe link works once, for an hour. If you did not ask ` +
      `for it, ignore this message: your password is unchanged.\n`
    await mail.send({ to: user.email, subject: 'Set a new password', text, key: token })
  }

  return {
    async request(email, { address }) {
      const key = addressKey(email)
      const allowed = await limits.mail(key, address)
      if (!allowed.allowed) return tooMany(clock, allowed)
      background.run(() => sendLink(key))
      return { kind: 'sent' }
    },
    async link(userId) {
      await requireUser(sql, userId)
      const { token, expiresAt } = await makeLink(sql, { purpose: 'reset', userId, minutes: MINUTES_BY_HAND })
      return { url: mail.url('reset', token), expiresAt }
    },
    isValid: async (token) => (await peekLink(sql, 'reset', token)) !== undefined,
    async use(token, password, client) {
      const link = await peekLink(sql, 'reset', token)
      const user = link?.userId ? await selectUser(sql, link.userId) : undefined
      if (!user || user.disabled || user.holderOf !== null) throw new ServiceError('linkInvalid')
      if (dependencies.byHandOnly && link?.data.mailed === true) throw new ServiceError('linkInvalid')
      await requireUncommon(password, [user.name, user.email ?? ''])
      const hash = await passwords.hash(password, { queue: 'link', who: `user ${user.id}` })
      await sql.begin(async (transaction) => {
        const { data } = await takeLink(transaction, 'reset', token)
        await setPassword(transaction, user.id, hash)
        await deleteSessions(transaction, user.id)
        if (data.mailed === true) {
          await transaction`update users set verified_at = coalesce(verified_at, service_now()) where id = ${user.id}`
        }
        const by = { keyId: null, userId: user.id, address: client.address }
        const object = `user ${user.id}`
        await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'user.password', object })
      })
      sessions.forget()
      return continueLogIn(dependencies, { ...user, password: hash }, 'password', client)
    },
  }
}
