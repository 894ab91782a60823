import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { blockOf } from '../platform/net/networks.ts'
import type { PasswordCheck } from '../platform/security/passwords.ts'
import { requireUncommon } from './log-in/common-passwords.ts'
import { asQuoted, type PeopleMail } from './mail.ts'
import { addMember, validRole } from './members.ts'
import type { Client } from './person.ts'
import type { MemberRole } from './roles.ts'
import type { SessionKeeper } from './sessions.ts'
import { hashToken, makeToken } from './tokens.ts'
import { insertUser, selectUserByEmail, validEmail, validPersonName } from './users.ts'

export interface Invitation {
  readonly id: number
  readonly email: string
  readonly role: MemberRole
  readonly invitedBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Whether it was sent to its address; otherwise its maker hands the link over. */
  readonly mailed: boolean
}

/** An invitation as the person who follows its link sees it. */
export interface OpenInvitation {
  readonly accountId: number
  readonly accountName: string
  readonly role: MemberRole
  readonly email: string
  /** Whether the address is that of a user, who must log in to accept. */
  readonly hasUser: boolean
}

export interface Invitations {
  /**
   * Invites an address, by mail if possible. `url` is given only if the mail could not be sent, for handing it over. An earlier
   * invitation of the address to the account ends.
   *
   * Throws parameterInvalid (email, role, account), and rateLimited.
   */
  create(
    accountId: number,
    invitation: { readonly email: string; readonly role: string },
    by: Actor,
  ): Promise<{ invitation: Invitation; url: string | undefined }>
  /** Those that are open, latest first. */
  list(accountId: number): Promise<Invitation[]>
  /** False if there is none that is open. */
  revoke(accountId: number, id: number, by: Actor): Promise<boolean>
  /** Undefined if the token is invalid, was used or has expired. */
  find(token: string): Promise<OpenInvitation | undefined>
  /**
   * Makes the invited user, and logs them in. Throws linkInvalid, passwordWeak, and parameterInvalid (name; email if the address has
   * a user, who must log in).
   */
  accept(
    token: string,
    person: { readonly name: string; readonly password: string },
    client: Client,
  ): Promise<{ userId: number; accountId: number; token: string }>
  /** Accepts for a user who is logged in with the invited address. Throws linkInvalid, and parameterInvalid (email). */
  acceptAs(
    token: string,
    user: { readonly id: number; readonly email: string | null },
    address: string,
  ): Promise<number>
}

const DAYS = 7
const MAX_OPEN = 100
/** The most that an account on trial invites: anyone can make one, and its invitations must not become mail to strangers. */
const MAX_PER_DAY_ON_TRIAL = 5

export interface InvitationsDependencies {
  readonly sql: Sql
  readonly mail: PeopleMail
  readonly passwords: PasswordCheck
  readonly sessions: SessionKeeper
  /** SIGN_UP=closed or OIDC_ONLY: an invitation makes no user with a password. */
  readonly closed: boolean
  /** Throws rateLimited. */
  readonly allowMail: (accountId: number, emailKey: string) => Promise<void>
}

const isOpen = (sql: AnySql) => sql`i.accepted_at is null and i.revoked_at is null and i.expires_at > service_now()`

const columns = (sql: AnySql) => sql`
  i.id, i.email, i.role, (select u.name from users u where u.id = i.invited_by) as "invitedBy", i.created_at as "createdAt",
  i.expires_at as "expiresAt", i.mailed`

export function createInvitations(dependencies: InvitationsDependencies): Invitations {
  const { sql, passwords, sessions, closed } = dependencies
  return {
    create: (accountId, invitation, by) => invite(dependencies, accountId, invitation, by),
    list: (accountId) => sql<Invitation[]>`
      select ${columns(sql)} from invitations i where i.account_id = ${accountId} and ${isOpen(sql)}
       order by i.id desc limit ${MAX_OPEN}`,
    async revoke(accountId, id, by) {
      return sql.begin(async (transaction) => {
        const rows = await transaction`
          update invitations i set revoked_at = service_now()
           where i.id = ${id} and i.account_id = ${accountId} and ${isOpen(transaction)}`
        if (rows.count === 0) return false
        await noteChange(transaction, { accountId, by, action: 'invitation.revoke', object: `invitation ${id}` })
        return true
      }) as Promise<boolean>
    },
    async find(token) {
      const hash = hashToken(token)
      if (!hash) return undefined
      const [row] = await sql<OpenInvitation[]>`
        select i.account_id as "accountId", a.name as "accountName", i.role, i.email,
               exists (select from users u where u.email_key = i.email_key) as "hasUser"
          from invitations i join accounts a on a.id = i.account_id
         where i.hash = ${hash} and ${isOpen(sql)} and a.deleted_at is null and a.closed_at is null`
      return row
    },
    async accept(token, person, client) {
      const name = validPersonName(person.name)
      const open = await this.find(token)
      if (!open || closed) throw new ServiceError('linkInvalid')
      if (open.hasUser) throw invalidParameter('email', 'is that of a user, who must log in to accept the invitation')
      await requireUncommon(person.password, [name, open.email])
      const password = await passwords.hash(person.password, { queue: 'link', who: blockOf(client.address) })
      return sql.begin(async (transaction) => {
        const { accountId, role, email, mailed } = await takeInvitation(transaction, token)
        // A link that was handed over does not show that the address is theirs.
        const userId = await insertUser(transaction, { name, email: validEmail(email), password, verified: mailed })
        await addMember(transaction, { accountId, userId, role, by: { keyId: null, userId, address: client.address } })
        return { userId, accountId, token: await sessions.begin(transaction, userId, 'password', client) }
      }) as Promise<{ userId: number; accountId: number; token: string }>
    },
    async acceptAs(token, user, address) {
      const accountId = (await sql.begin(async (transaction) => {
        const { accountId, role, email } = await takeInvitation(transaction, token)
        const invited = await selectUserByEmail(transaction, validEmail(email).key)
        if (invited?.id !== user.id) throw invalidParameter('email', 'is not the address that was invited')
        await addMember(transaction, {
          accountId,
          userId: user.id,
          role,
          by: { keyId: null, userId: user.id, address },
        })
        return accountId
      })) as number
      sessions.forget()
      return accountId
    },
  }
}

async function invite(
  { sql, mail, allowMail }: InvitationsDependencies,
  accountId: number,
  wanted: { readonly email: string; readonly role: string },
  by: Actor,
): Promise<{ invitation: Invitation; url: string | undefined }> {
  const email = validEmail(wanted.email)
  const role = validRole(wanted.role)
  await allowMail(accountId, email.key)
  const token = makeToken()
  const made = (await sql.begin(async (transaction) => {
    const [account] = await transaction<{ name: string; open: number; isOnTrial: boolean; today: number }[]>`
      select a.name, (select count(*)::int from invitations i where i.account_id = a.id and ${isOpen(transaction)}) as open,
             a.trial_address is not null and not exists (
               select from domains d where d.account_id = a.id and d.state = 'active' and d.deleted_at is null) as "isOnTrial",
             (select count(*)::int from invitations i
               where i.account_id = a.id and i.created_at > service_now() - interval '1 day') as today
        from accounts a where a.id = ${accountId} and a.deleted_at is null for no key update of a`
    if (!account) throw invalidParameter('account', 'does not exist')
    if (account.open >= MAX_OPEN)
      throw invalidParameter('account', `has ${MAX_OPEN} open invitations; revoke some first`)
    if (account.isOnTrial && account.today >= MAX_PER_DAY_ON_TRIAL)
      throw invalidParameter('account', `invites ${MAX_PER_DAY_ON_TRIAL} times per day until a domain is active`)
    const member = await transaction`
      select from memberships m join users u on u.id = m.user_id where m.account_id = ${accountId} and u.email_key = ${email.key}`
    if (member.count > 0) throw invalidParameter('email', 'is that of a member of this account')
    await transaction`
      update invitations i set revoked_at = service_now()
       where i.account_id = ${accountId} and i.email_key = ${email.key} and ${isOpen(transaction)}`
    const invitation = onlyRow(
      await transaction<Invitation[]>`
        insert into invitations as i (hash, account_id, role, email, email_key, invited_by, expires_at)
        values (${hashToken(token) as Buffer}, ${accountId}, ${role}, ${email.text}, ${email.key}, ${by.userId ?? null},
                service_now() + make_interval(days => ${DAYS}::int))
        returning ${columns(transaction)}`,
    )
    const object = `invitation ${invitation.id}`
    await noteChange(transaction, { accountId, by, action: 'invitation.create', object, after: { role } })
    return { invitation, accountName: account.name }
  })) as { invitation: Invitation; accountName: string }
  const url = mail.url('invitation', token)
  const { invitedBy } = made.invitation
  const account = asQuoted(made.accountName)
  const mailed = await mail.send({
    to: email.text,
    subject: `Invitation to the account ${account}`,
    text:
      `You are invited to an account of this service, as ${role}. ` +
      `Invited by: ${invitedBy === null ? 'the operator' : asQuoted(invitedBy)}, for the account ${account}.\n\n${url}\n\n` +
      `The link works once, for ${DAYS} days. If you did not expect it, ignore this message.\n`,
    key: token,
  })
  if (mailed) await sql`update invitations set mailed = true where id = ${made.invitation.id}`
  return { invitation: { ...made.invitation, mailed }, url: mailed ? undefined : url }
}

interface TakenInvitation {
  readonly accountId: number
  readonly role: MemberRole
  readonly email: string
  readonly mailed: boolean
}

/** Uses an invitation up; exactly one of several processes succeeds. Throws linkInvalid. */
async function takeInvitation(transaction: SqlTransaction, token: string): Promise<TakenInvitation> {
  const hash = hashToken(token)
  const [row] = hash
    ? await transaction<TakenInvitation[]>`
        update invitations i set accepted_at = service_now() where i.hash = ${hash} and ${isOpen(transaction)}
        returning i.account_id as "accountId", i.role, i.email, i.mailed`
    : []
  if (!row) throw new ServiceError('linkInvalid')
  return row
}
