import { parseAddress } from '../mime/address.ts'
import { type AnySql, isUniqueViolation, onlyRow } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { User } from './person.ts'

/** A user with data that only the service may see. */
export interface StoredUser extends User {
  /** The hash; for the holder of a subaccount, that of the subaccount. */
  readonly password: string | null
  readonly holderOf: number | null
  readonly disabled: boolean
  readonly totp: boolean
  readonly passkeys: number
}

const columns = (sql: AnySql) => sql`
  u.id, u.name, u.email, u.holder_of as "holderOf", u.holder_of is not null as holder, u.disabled_at is not null as disabled,
  u.verified_at is not null as verified,
  exists (select from operators o where o.user_id = u.id) as operator, u.totp_confirmed_at is not null as totp,
  (select count(*)::int from passkeys k where k.user_id = u.id) as passkeys,
  u.totp_confirmed_at is not null or exists (select from passkeys k where k.user_id = u.id) as "secondFactor"`

const password = (sql: AnySql) => sql`
  case when u.holder_of is null then u.password
       else (select a.password from accounts a where a.id = u.holder_of and a.state = 'active' and a.deleted_at is null) end as password`

export async function selectUserByEmail(sql: AnySql, emailKey: string): Promise<StoredUser | undefined> {
  const [row] = await sql<StoredUser[]>`
    select ${columns(sql)}, ${password(sql)} from users u where u.email_key = ${emailKey}`
  return row
}

/** `lock`: locks the row until the end of the transaction. */
export async function selectUser(sql: AnySql, id: number, { lock = false } = {}): Promise<StoredUser | undefined> {
  const [row] = await sql<StoredUser[]>`
    select ${columns(sql)}, ${password(sql)} from users u where u.id = ${id} ${lock ? sql`for no key update of u` : sql``}`
  return row
}

/** Throws parameterInvalid. */
export async function requireUser(sql: AnySql, id: number): Promise<StoredUser> {
  const user = await selectUser(sql, id)
  if (!user) throw invalidParameter('user', 'does not exist')
  return user
}

export interface NewUser {
  readonly name: string
  readonly email: { readonly text: string; readonly key: string }
  readonly password: string | null
  readonly verified: boolean
  readonly oidcSubject?: string
}

/** Throws parameterInvalid if the address is that of another user. */
export async function insertUser(sql: AnySql, user: NewUser): Promise<number> {
  try {
    return onlyRow(
      await sql<{ id: number }[]>`
        insert into users (name, email, email_key, password, verified_at, oidc_subject)
        values (${user.name}, ${user.email.text}, ${user.email.key}, ${user.password},
                case when ${user.verified}::boolean then service_now() end, ${user.oidcSubject ?? null})
        returning id`,
    ).id
  } catch (error) {
    if (isUniqueViolation(error, 'users_email')) throw invalidParameter('email', 'is already used by another user')
    throw error
  }
}

export async function insertMembership(sql: AnySql, accountId: number, userId: number, role: string): Promise<boolean> {
  const rows = await sql`
    insert into memberships (account_id, user_id, role) values (${accountId}, ${userId}, ${role}) on conflict do nothing`
  return rows.count > 0
}

export async function insertOperator(sql: AnySql, userId: number): Promise<void> {
  await sql`insert into operators (user_id) values (${userId}) on conflict do nothing`
}

/** Keeps others from removing or disabling operators until the end of the transaction, so that the last one is known. */
export async function lockOperators(sql: AnySql): Promise<number[]> {
  const rows = await sql<{ userId: number }[]>`select user_id as "userId" from operators order by user_id for update`
  return rows.map(({ userId }) => userId)
}

/** Returns the canonical address and its key. Throws parameterInvalid. */
export function validEmail(email: string): { text: string; key: string } {
  const address = parseAddress(email)
  if (!address) throw invalidParameter('email', 'is not a valid email address')
  return { text: address.text, key: address.key }
}

/** Returns the name of a person without surrounding spaces. Throws parameterInvalid. */
export function validPersonName(name: string): string {
  const clean = name.trim().replace(/\s+/g, ' ')
  if (clean === '' || clean.length > 100) throw invalidParameter('name', 'must have 1 to 100 characters')
  if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'must not contain control characters')
  return clean
}
