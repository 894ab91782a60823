import type { AnySql } from '../platform/database/database.ts'
import { insertMembership, type StoredUser, selectUser } from './users.ts'

/**
 * The holder of an active subaccount with a password, by the subaccount's full name (`parent/username`, case-insensitive). User
 * names alone are unique only within a parent account. The id is 0 if the holder has not logged in yet.
 */
export async function findHolder(sql: AnySql, fullName: string): Promise<StoredUser | undefined> {
  const [account] = await sql<
    { id: number; name: string; email: string | null; password: string; userId: number | null }[]
  >`
    select a.id, a.username as name, a.email, a.password, u.id as "userId"
      from accounts a join accounts p on p.id = a.parent_id left join users u on u.holder_of = a.id
     where lower(a.name) = ${fullName} and a.deleted_at is null and a.state = 'active' and p.state <> 'deleted' and coalesce(a.closed_at, p.closed_at) is null
       and a.password is not null`
  if (!account) return undefined
  const { id, name, email, password, userId } = account
  if (userId !== null) return selectUser(sql, userId)
  const none = {
    operator: false,
    holder: true,
    verified: false,
    secondFactor: false,
    disabled: false,
    totp: false,
    passkeys: 0,
  }
  return { ...none, id: 0, name, email, password, holderOf: id }
}

/** Makes the user of a holder who logs in for the first time. The password remains that of the subaccount. */
export async function makeHolder(sql: AnySql, { name, email, holderOf }: StoredUser): Promise<StoredUser> {
  await sql`
    insert into users (name, email, holder_of) values (${name}, ${email}, ${holderOf}) on conflict (holder_of) do nothing`
  const [user] = await sql<{ id: number }[]>`select id from users where holder_of = ${holderOf}`
  const { id } = user as { id: number }
  await insertMembership(sql, holderOf as number, id, 'owner')
  return (await selectUser(sql, id)) as StoredUser
}
