import type { AnySql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { hashToken, makeToken } from './tokens.ts'

/** The use of a one-time link or step; a token of one purpose is never accepted for another. */
export type LinkPurpose =
  | 'first'
  | 'verify'
  | 'reset'
  | 'second-factor'
  | 'passkey-register'
  | 'passkey-log-in'
  | 'oidc'
  | 'agent-plan'

export interface NewLink {
  readonly purpose: LinkPurpose
  readonly userId?: number
  readonly accountId?: number
  readonly data?: Readonly<Record<string, unknown>>
  readonly minutes: number
}

export interface Link {
  readonly userId: number | null
  readonly accountId: number | null
  readonly data: Readonly<Record<string, unknown>>
  readonly expiresAt: Date
}

/** Links of a user that may wait at the same time, of each purpose; the oldest make room. */
const MAX_PER_USER = 5

const columns = (sql: AnySql) => sql`user_id as "userId", account_id as "accountId", data, expires_at as "expiresAt"`

/** Stores the hash of a new token of 256 bits, and returns the token. */
export async function makeLink(sql: AnySql, link: NewLink): Promise<{ token: string; expiresAt: Date }> {
  const { purpose, userId = null, accountId = null, data = {}, minutes } = link
  const token = makeToken()
  const [row] = await sql<{ expiresAt: Date }[]>`
    insert into one_time_links (hash, purpose, user_id, account_id, data, expires_at)
    values (${hashToken(token) as Buffer}, ${purpose}, ${userId}, ${accountId}, ${JSON.stringify(data)}::text::jsonb,
            service_now() + make_interval(mins => ${minutes}::int))
    returning expires_at as "expiresAt"`
  if (userId !== null) {
    await sql`
      delete from one_time_links where hash in (
        select hash from one_time_links where user_id = ${userId} and purpose = ${purpose} and used_at is null
         order by created_at desc, hash offset ${MAX_PER_USER})`
  }
  return { token, expiresAt: (row as { expiresAt: Date }).expiresAt }
}

/** Returns the link without using it; undefined if it does not exist, was used or has expired. */
export async function peekLink(sql: AnySql, purpose: LinkPurpose, token: string): Promise<Link | undefined> {
  const hash = hashToken(token)
  if (!hash) return undefined
  const [row] = await sql<Link[]>`
    select ${columns(sql)} from one_time_links
     where hash = ${hash} and purpose = ${purpose} and used_at is null and expires_at > service_now()`
  return row
}

/**
 * Uses a link up. Of several processes that use the same one, exactly one succeeds; one that runs in a transaction gives
 * it back by a rollback. Throws linkInvalid.
 */
export async function takeLink(sql: AnySql, purpose: LinkPurpose, token: string): Promise<Link> {
  const hash = hashToken(token)
  const [row] = hash
    ? await sql<Link[]>`
        update one_time_links set used_at = service_now()
         where hash = ${hash} and purpose = ${purpose} and used_at is null and expires_at > service_now()
        returning ${columns(sql)}`
    : []
  if (!row) throw new ServiceError('linkInvalid')
  return row
}

/** Deletes the unused links of a user for these purposes. */
export async function dropLinks(sql: AnySql, userId: number, purposes: readonly LinkPurpose[]): Promise<void> {
  await sql`
    delete from one_time_links where user_id = ${userId} and purpose = any(${[...purposes]}::text[]) and used_at is null`
}

/** Deletes a batch of links that have expired. Returns how many. */
export async function forgetLinks(sql: AnySql): Promise<number> {
  const rows = await sql`
    delete from one_time_links where hash in (
      select hash from one_time_links where expires_at < service_now() - interval '1 day'
       order by expires_at limit 1000 for update skip locked)`
  return rows.count
}
