import type { IDToken } from 'openid-client'
import { type Actor, ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import { parseAddress } from '../../mime/address.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import type { LogInDependencies } from '../log-in/log-in.ts'
import { dropLogIns } from '../manage-users.ts'
import { addMember, requireOtherOwner } from '../members.ts'
import { type MemberRole, ROLES } from '../roles.ts'
import { openAccount, type SignUpSetting } from '../sign-up.ts'
import { insertOperator, insertUser, lockOperators, selectUser, selectUserByEmail } from '../users.ts'

/** Roles that a provider gave: `owner` for the oldest account, `owner:12` for account 12, `operator`. */
interface ClaimedRoles {
  readonly operator: boolean
  readonly accounts: readonly { readonly accountId: number | null; readonly role: MemberRole }[]
}

export interface OidcUserDependencies extends Pick<LogInDependencies, 'sql' | 'sessions'> {
  readonly log: Log
  readonly settings: { readonly roleClaim: string | undefined; readonly only: boolean }
  readonly signUp: SignUpSetting
}

/** A user who logs in, and whether this log-in made them. */
export interface OidcUser {
  readonly id: number
  readonly isNew: boolean
}

/**
 * Why an ID token logs no user in. `unverified`: the provider has not verified the address. `unknown`: the address was not invited, or has no role.
 * `unlinked`: its user is disabled, did not confirm the address here, or is another one at the provider.
 */
export type UserRefusal = 'unverified' | 'unknown' | 'unlinked'

const MAX_ROLES = 50
const MAX_INVITATIONS = 20

/**
 * Returns the user of an ID token, and makes them if their address was invited, the role claim gives them a role, or anyone may sign up, who then
 * gets an account; or why they may not log in. A user who exists is found by address only if both sides have verified it, or if the provider is the
 * only one who can.
 */
export async function oidcUser(
  { sql, sessions, log, settings: { roleClaim, only }, signUp }: OidcUserDependencies,
  claims: IDToken,
  address: string,
): Promise<OidcUser | UserRefusal> {
  const email = typeof claims.email === 'string' ? parseAddress(claims.email) : undefined
  if (!email || claims.email_verified !== true) {
    log.warn('log-in through OIDC refused: the provider has not verified the address')
    return 'unverified'
  }
  const roles = roleClaim === undefined ? undefined : readRoles(claims[roleClaim])
  const subject = `${claims.iss} ${claims.sub}`
  const user = (await sql.begin(async (transaction) => {
    const known = await findKnown(transaction, { subject, emailKey: email.key, only, address })
    if (known === 'unlinked') return known
    const isNew = known === undefined
    if (isNew && !(await mayCome(transaction, { roles, signUp }, email.key))) return 'unknown'
    const name = (typeof claims.name === 'string' && clean(claims.name)) || email.local
    const id =
      known ?? (await insertUser(transaction, { name, email, password: null, verified: true, oidcSubject: subject }))
    const by: Actor = { keyId: null, userId: id, address }
    if (isNew)
      await noteChange(transaction, { accountId: ALL_ACCOUNTS, by, action: 'user.create', object: `user ${id}` })
    if (roles) await syncRoles(transaction, id, roles, by)
    else if ((await acceptInvitations(transaction, id, email.key, by)) === 0 && isNew && signUp === 'open') {
      await openAccount(transaction, { userId: id, name, email: email.text }, by)
    }
    return { id, isNew }
  })) as OidcUser | UserRefusal
  sessions.forget()
  if (typeof user === 'string') log.warn({ reason: user }, 'log-in through OIDC refused')
  return user
}

/**
 * The user with the subject, or one with the address, who gets the subject. With OIDC_ONLY no user can confirm an address here, and the provider's
 * word is enough. Another person may have logged in as this user before, and no longer can.
 */
async function findKnown(
  sql: SqlTransaction,
  {
    subject,
    emailKey,
    only,
    address,
  }: { readonly subject: string; readonly emailKey: string; readonly only: boolean; readonly address: string },
): Promise<number | 'unlinked' | undefined> {
  const [row] = await sql<{ id: number }[]>`select id from users where oidc_subject = ${subject}`
  const user = row ? await selectUser(sql, row.id) : await selectUserByEmail(sql, emailKey)
  if (!user) return undefined
  if (user.disabled || (!row && !user.verified && !only)) return 'unlinked'
  if (row) return user.id
  const linked = await sql`update users set oidc_subject = ${subject} where id = ${user.id} and oidc_subject is null`
  if (linked.count === 0) return 'unlinked'
  if (!user.verified) {
    await dropLogIns(sql, user.id)
    await sql`update users set verified_at = service_now() where id = ${user.id}`
    const by = { keyId: null, userId: user.id, address }
    await noteChange(sql, { accountId: ALL_ACCOUNTS, by, action: 'user.link', object: `user ${user.id}` })
  }
  return user.id
}

async function mayCome(
  sql: SqlTransaction,
  { roles, signUp }: { readonly roles: ClaimedRoles | undefined; readonly signUp: SignUpSetting },
  emailKey: string,
): Promise<boolean> {
  if (roles) return roles.operator || roles.accounts.length > 0
  if (signUp !== 'invite') return signUp === 'open'
  const invited = await sql`
    select from invitations where email_key = ${emailKey} and accepted_at is null and revoked_at is null and expires_at > service_now() limit 1`
  return invited.count > 0
}

/** Returns the number of invitations. */
async function acceptInvitations(sql: SqlTransaction, userId: number, emailKey: string, by: Actor): Promise<number> {
  const open = await sql<{ accountId: number; role: MemberRole }[]>`
    update invitations i set accepted_at = service_now()
     where i.id in (select id from invitations where email_key = ${emailKey} and accepted_at is null and revoked_at is null
                       and expires_at > service_now() order by id limit ${MAX_INVITATIONS} for update)
    returning i.account_id as "accountId", i.role`
  for (const { accountId, role } of open) {
    const known = await sql`select from memberships where account_id = ${accountId} and user_id = ${userId}`
    if (known.count === 0) await addMember(sql, { accountId, userId, role, by })
  }
  return open.length
}

/** Gives the user exactly the claimed roles; the last owner and the last operator remain. */
async function syncRoles(
  sql: SqlTransaction,
  userId: number,
  { operator, accounts }: ClaimedRoles,
  by: Actor,
): Promise<void> {
  const [oldest] = await sql<{ id: number }[]>`
    select id from accounts where parent_id is null and deleted_at is null order by id limit 1`
  const ids = accounts.map(({ accountId }) => accountId ?? oldest?.id ?? 0)
  const existing = await sql<{ id: number }[]>`
    select id from accounts where id = any(${ids}::int[]) and deleted_at is null order by id for no key update`
  const wanted = new Map(accounts.map(({ role }, at) => [ids[at] as number, role]))
  const has = await sql<{ accountId: number; role: MemberRole }[]>`
    select account_id as "accountId", role from memberships where user_id = ${userId} order by account_id`
  for (const { accountId, role } of has) {
    const claimed = wanted.get(accountId)
    if (claimed === role || (role === 'owner' && (await isLastOwner(sql, accountId, userId)))) continue
    const change = { accountId, by, object: `user ${userId}`, before: { role } }
    if (claimed)
      await sql`update memberships set role = ${claimed} where account_id = ${accountId} and user_id = ${userId}`
    else await sql`delete from memberships where account_id = ${accountId} and user_id = ${userId}`
    await noteChange(sql, {
      ...change,
      ...(claimed ? { action: 'member.change', after: { role: claimed } } : { action: 'member.remove' }),
    })
  }
  for (const { id } of existing) {
    const isMember = has.some(({ accountId }) => accountId === id)
    if (!isMember) await addMember(sql, { accountId: id, userId, role: wanted.get(id) as MemberRole, by })
  }
  if (operator) await insertOperator(sql, userId)
  else if ((await sql`select from operators where user_id = ${userId}`).count > 0) await removeOperator(sql, userId)
}

async function removeOperator(sql: SqlTransaction, userId: number): Promise<void> {
  if ((await lockOperators(sql)).length > 1) await sql`delete from operators where user_id = ${userId}`
}

async function isLastOwner(sql: SqlTransaction, accountId: number, userId: number): Promise<boolean> {
  try {
    await requireOtherOwner(sql, accountId, userId)
    return false
  } catch (error) {
    if (error instanceof ServiceError && error.errorName === 'lastOwner') return true
    throw error
  }
}

/** Reads a claim: a text, or a list of texts. Unknown roles are ignored. */
function readRoles(claim: unknown): ClaimedRoles {
  const texts = (Array.isArray(claim) ? claim : [claim]).filter((one) => typeof one === 'string').slice(0, MAX_ROLES)
  const accounts = texts.flatMap((text) => {
    const [role = '', id, ...rest] = text.split(':')
    const isValid =
      ROLES.includes(role as MemberRole) && rest.length === 0 && (id === undefined || /^\d{1,9}$/.test(id))
    return isValid ? [{ role: role as MemberRole, accountId: id === undefined ? null : Number(id) }] : []
  })
  return { operator: texts.includes('operator'), accounts }
}

function clean(name: string): string {
  return name.replace(/\p{C}/gu, '').trim().slice(0, 100)
}
