import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { insertAccount } from '../accounts/store.ts'
import type { Clock } from '../platform/clock.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { blockOf } from '../platform/net/networks.ts'
import type { PasswordCheck } from '../platform/security/passwords.ts'
import type { Background } from './background.ts'
import { makeLink, peekLink, takeLink } from './links.ts'
import { requireUncommon } from './log-in/common-passwords.ts'
import { tooMany } from './log-in/log-in.ts'
import type { LogInLimits } from './log-in/log-in-limits.ts'
import type { PeopleMail } from './mail.ts'
import type { Client, NewPerson } from './person.ts'
import type { SessionKeeper } from './sessions.ts'
import { insertMembership, insertUser, selectUserByEmail, validEmail, validPersonName } from './users.ts'

/** SIGN_UP: who may become a user. */
export type SignUpSetting = 'closed' | 'invite' | 'open'

export interface SignUp {
  /** Whether anyone may sign up: SIGN_UP=open. */
  readonly isOpen: boolean
  /**
   * Sends a link that verifies the address. Nothing is made before it is followed, and nothing of the user but the address is chosen: the mail may
   * be read by another person than the one who asks. The answer is the same, after the same time, for an address that has a user.
   *
   * Throws signUpClosed and parameterInvalid (email).
   */
  request(email: string, client: Client): Promise<{ kind: 'sent' } | { kind: 'too-many'; until: Date }>
  /** Whether the token can be used at present. */
  isValid(token: string): Promise<boolean>
  /**
   * Makes the user and an account, which may send a few test messages to the verified address until it has an active domain.
   *
   * Throws linkInvalid, also if the address has got a user meanwhile, parameterInvalid (name), passwordWeak and overloaded. The link remains usable
   * except after linkInvalid.
   */
  verify(
    token: string,
    person: Omit<NewPerson, 'email'>,
    client: Client,
  ): Promise<{ userId: number; accountId: number; token: string }>
}

export interface SignUpDependencies {
  readonly sql: Sql
  readonly clock: Clock
  readonly mail: PeopleMail
  readonly background: Background
  readonly limits: LogInLimits
  readonly passwords: PasswordCheck
  readonly sessions: SessionKeeper
  readonly isOpen: boolean
}

const HOURS = 24

interface Pending {
  readonly email: string
}

export function createSignUp(dependencies: SignUpDependencies): SignUp {
  const { sql, clock, background, limits, passwords, sessions, isOpen } = dependencies
  return {
    isOpen,
    async request(text, { address }) {
      if (!isOpen) throw new ServiceError('signUpClosed')
      const email = validEmail(text)
      const allowed = await limits.mail(email.key, address)
      if (!allowed.allowed) return tooMany(clock, allowed)
      background.run(() => sendLink(dependencies, email.text))
      return { kind: 'sent' }
    },
    isValid: async (token) => isOpen && (await peekLink(sql, 'verify', token)) !== undefined,
    async verify(token, person, client) {
      const link = isOpen ? await peekLink(sql, 'verify', token) : undefined
      if (!link) throw new ServiceError('linkInvalid')
      const name = validPersonName(person.name)
      await requireUncommon(person.password, [name, (link.data as unknown as Pending).email])
      const password = await passwords.hash(person.password, { queue: 'link', who: blockOf(client.address) })
      return sql.begin(async (transaction) => {
        const pending = (await takeLink(transaction, 'verify', token)).data as unknown as Pending
        const email = validEmail(pending.email)
        if (await selectUserByEmail(transaction, email.key)) throw new ServiceError('linkInvalid')
        const userId = await insertUser(transaction, { name, email, password, verified: true })
        const by = { keyId: null, userId, address: client.address }
        const accountId = await openAccount(transaction, { userId, name, email: email.text }, by)
        return { userId, accountId, token: await sessions.begin(transaction, userId, 'password', client) }
      }) as Promise<{ userId: number; accountId: number; token: string }>
    },
  }
}

async function sendLink({ sql, mail }: SignUpDependencies, email: string): Promise<void> {
  const { token } = await makeLink(sql, { purpose: 'verify', minutes: HOURS * 60, data: { email } satisfies Pending })
  const isKnown = await selectUserByEmail(sql, validEmail(email).key)
  const text = isKnown
    ? `Someone tried to sign up with ${email}, which already has a user. If it was you, log in, or set a new password:\n\n${mail.logInUrl}\n`
    : `Confirm your address ${email} here:\n\n${mail.url('verify', token)}\n\nThe link works once, for ${HOURS} hours. If you did not sign up, ignore ` +
      `this message.\n`
  await mail.send({
    to: email,
    subject: isKnown ? 'You already have a user' : 'Confirm your address',
    text,
    key: token,
  })
}

/** Makes the account of a user who signed up with a verified address, and who owns it. It is on trial until it has an active domain. */
export async function openAccount(
  sql: SqlTransaction,
  { userId, name, email }: { readonly userId: number; readonly name: string; readonly email: string },
  by: Actor,
): Promise<number> {
  const { id } = await insertAccount(sql, await freeAccountName(sql, name))
  await sql`update accounts set trial_address = ${email} where id = ${id}`
  await insertMembership(sql, id, userId, 'owner')
  await noteChange(sql, { accountId: id, by, action: 'account.create', object: `account ${id}` })
  return id
}

/** A name that no account has: the given one, or with a number behind it. */
export async function freeAccountName(sql: AnySql, name: string): Promise<string> {
  const base = name.replaceAll('/', ' ').slice(0, 90)
  const rows = await sql<{ name: string }[]>`
    select name from (select ${base}::text as name, 1 as n union all select ${base}::text || ' ' || n, n from generate_series(2, 2000) n) names
     where not exists (select from accounts a where lower(a.name) = lower(names.name) and a.deleted_at is null) order by n limit 1`
  return onlyRow(rows).name
}
