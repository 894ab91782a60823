import { createCache } from '../platform/cache.ts'
import { gather } from '../platform/concurrency/gather.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { keepNetwork } from './log-in/known-networks.ts'
import type { AccountOfUser, Client, LogInMethod, User } from './person.ts'
import { type AccountsOfUser, selectAccountsOf } from './session-accounts.ts'
import { createSessionTokens } from './tokens.ts'

/** A valid session, with its user and the accounts they may see. */
export interface Session {
  readonly sessionId: number
  readonly user: User
  /** Sorted by name. An account that an operator looks at has the role `observer`. */
  readonly accounts: readonly AccountOfUser[]
  /** The names of the user's accounts that are closed, to be deleted. */
  readonly closedAccounts: readonly string[]
  /** The account that an operator looks at, which is also in `accounts`; otherwise null. */
  readonly looksAt: number | null
  /** When the user last proved who they are. */
  readonly reauthenticatedAt: Date
  readonly method: LogInMethod
  /** Whether the user must set up a second factor before anything else (REQUIRE_2FA). */
  readonly mustEnrol: boolean
  /** Whether the token must be replaced with `rotate`, because the user's rights have changed. */
  readonly mustRotate: boolean
}

/** A session as its user sees it in a list. */
export interface SessionSummary {
  readonly id: number
  readonly createdAt: Date
  /** Accurate to about a minute. */
  readonly seenAt: Date
  readonly expiresAt: Date
  readonly address: string | null
  readonly agent: string | null
  readonly method: LogInMethod
}

export interface FindOptions {
  /** Whether a person makes the request, which delays the end of the session. By default true; false for what an open page requests by itself. */
  readonly isPerson?: boolean
}

export interface Sessions {
  /**
   * The session of a token; undefined if it was ended or has expired: 12 hours after the last request of its user, 30 days after
   * log-in. Every process notices the end of a session within 5 s.
   */
  find(token: string, options?: FindOptions): Promise<Session | undefined>
  /** Replaces the token of a session. The old one remains valid for 30 s. Undefined if there is no such session. */
  rotate(token: string): Promise<string | undefined>
  /** Latest first. */
  list(userId: number): Promise<SessionSummary[]>
  /** Ends one session of the user; false if it is not theirs. */
  end(userId: number, id: number): Promise<boolean>
  /** Ends all sessions of the user but one. Returns how many. */
  endAll(userId: number, exceptId?: number): Promise<number>
  /** Deletes a batch of sessions that have expired. Returns how many. */
  forgetOld(): Promise<number>
  /** Makes this process forget what it knows, after a change that applies now, such as another name of an account. */
  forget(): void
}

/** Sessions, with a function that only this module calls. */
export interface SessionKeeper extends Sessions {
  /** Makes a session and returns its token, which must be stored in the user's browser only. */
  begin(sql: AnySql, userId: number, method: LogInMethod, client: Client, replaces?: string): Promise<string>
}

/** Ended sessions are gone within 5 s in every process, as revoked keys are. */
const MAX_AGE_MS = 3000
const MAX_CACHED = 10_000
/** Sessions that are loaded by one statement. */
const MAX_LOADED = 100
const MAX_PER_USER = 50
const MAX_AGENT = 300

const isLive = (sql: AnySql) => sql`s.expires_at > service_now() and s.seen_at > service_now() - interval '12 hours'`

type Found = Omit<Session, 'user' | 'accounts' | 'mustEnrol' | 'mustRotate'> &
  Omit<User, 'id'> & { readonly userId: number; readonly stale: boolean; readonly rotate: boolean }

/** A session as this process remembers it. */
interface Kept {
  readonly session: Session
  /** Whether the time of its last request has to be written at the next one. */
  isStale: boolean
}

export interface SessionsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  /** REQUIRE_2FA. */
  readonly require2fa: boolean
}

export function createSessions({ sql, secrets, require2fa }: SessionsDependencies): SessionKeeper {
  const tokens = createSessionTokens(secrets)
  // Open pages ask for theirs together (dashboard/live).
  const load = gather((hashes: readonly string[]) => loadSessions(sql, hashes, require2fa), MAX_LOADED)
  const found = createCache<Kept | null>({
    maxAge: MAX_AGE_MS,
    maxEntries: MAX_CACHED,
    load,
  })

  return {
    async find(token, { isPerson = true } = {}) {
      const hash = tokens.hashOf(token)?.toString('hex')
      const kept = hash === undefined ? undefined : await found.get(hash)
      if (!kept) return undefined
      if (isPerson && kept.isStale) {
        kept.isStale = false
        await noteSeen(sql, kept.session.sessionId, kept.session.user.id)
      }
      return kept.session
    },
    async rotate(token) {
      const hash = tokens.hashOf(token)
      const next = tokens.make()
      if (!hash) return undefined
      const rows = await sql`
        update sessions s set hash = ${next.hash}, previous_hash = s.hash, rotated_at = service_now(), rotate = false
         where s.hash = ${hash} and ${isLive(sql)}`
      found.forget(hash.toString('hex'))
      return rows.count > 0 ? next.token : undefined
    },
    list: (userId) => sql<SessionSummary[]>`
      select s.id::float8 as id, s.created_at as "createdAt", s.seen_at as "seenAt", s.expires_at as "expiresAt",
             host(s.address) as address, s.agent, s.method
        from sessions s where s.user_id = ${userId} and ${isLive(sql)} order by s.id desc limit ${MAX_PER_USER}`,
    async end(userId, id) {
      const rows = await sql`delete from sessions where id = ${id} and user_id = ${userId}`
      found.forget()
      return rows.count > 0
    },
    async endAll(userId, exceptId) {
      const count = await deleteSessions(sql, userId, exceptId)
      found.forget()
      return count
    },
    async begin(within, userId, method, { address, agent }, replaces) {
      const { token, hash } = tokens.make()
      const replaced = replaces === undefined ? undefined : tokens.hashOf(replaces)
      if (replaced) await within`delete from sessions where hash = ${replaced} or previous_hash = ${replaced}`
      const cut = agent?.replace(/\p{C}/gu, '').slice(0, MAX_AGENT) ?? null
      await within`
        update users set last_seen_at = service_now()
         where id = (select id from users where id = ${userId} for no key update skip locked)`
      await keepNetwork(within, userId, address)
      await within`
        insert into sessions (hash, user_id, method, address, agent, expires_at)
        values (${hash}, ${userId}, ${method}, ${address}::inet, ${cut}, service_now() + interval '30 days')`
      await within`
        delete from sessions where id in (
          select id from sessions where user_id = ${userId} order by id desc offset ${MAX_PER_USER})`
      if (replaced) found.forget(replaced.toString('hex'))
      return token
    },
    forget: () => found.forget(),
    async forgetOld() {
      const rows = await sql`
        delete from sessions where id in (
          select id from sessions where expires_at < service_now() or seen_at < service_now() - interval '12 hours'
           order by expires_at limit 1000 for update skip locked)`
      return rows.count
    },
  }
}

/**
 * For a change of how a user logs in. Throws reauthenticationNeeded if the session has ended, which this process may not know yet: who it was taken from
 * would lose the account after all. Keeps others from changing the user until the end of the transaction.
 */
export async function requireLive(
  sql: SqlTransaction,
  { sessionId, userId }: { readonly sessionId: number; readonly userId: number },
): Promise<void> {
  await sql`select from users where id = ${userId} for no key update`
  const rows = await sql`select from sessions where id = ${sessionId} and user_id = ${userId}`
  if (rows.count === 0) throw new ServiceError('reauthenticationNeeded')
}

/** Deletes the sessions of a user but one. Returns how many. */
export async function deleteSessions(sql: AnySql, userId: number, exceptId?: number): Promise<number> {
  const rows = await sql`
    delete from sessions where user_id = ${userId} and (${exceptId ?? null}::bigint is null or id <> ${exceptId ?? null}::bigint)`
  return rows.count
}

/** Has every session of the user get a new token at its next request. */
export async function rotateSessions(sql: AnySql, userId: number): Promise<void> {
  await sql`update sessions set rotate = true where user_id = ${userId}`
}

/** For each hash (hexadecimal), the session, or null if there is none that is valid. */
async function loadSessions(sql: Sql, hashes: readonly string[], require2fa: boolean): Promise<(Kept | null)[]> {
  const rows = await sql<(Found & { at: number })[]>`
    select asked.at::int as at, s.id::float8 as "sessionId", s.looks_at as "looksAt", s.reauthenticated_at as "reauthenticatedAt",
           s.method, s.rotate and s.hash = asked.hash as rotate, s.seen_at < service_now() - interval '1 minute' as stale,
           u.id as "userId", u.name, u.email, u.holder_of is not null as holder, u.verified_at is not null as verified,
           exists (select from operators o where o.user_id = u.id) as operator,
           u.totp_confirmed_at is not null or exists (select from passkeys k where k.user_id = u.id) as "secondFactor"
      from (select decode(hex, 'hex') as hash, at from unnest(${hashes}::text[]) with ordinality as given(hex, at)) asked
     cross join lateral (
             select id from sessions where hash = asked.hash
             union all
             select id from sessions where previous_hash = asked.hash and rotated_at > service_now() - interval '30 seconds'
             limit 1) found
      join sessions s on s.id = found.id join users u on u.id = s.user_id
     where ${isLive(sql)} and u.disabled_at is null`
  const accounts = await selectAccountsOf(
    sql,
    rows.map(({ userId, operator, looksAt }) => ({ userId, looksAt: operator ? looksAt : null })),
  )
  const kept = hashes.map((): Kept | null => null)
  for (const [n, row] of rows.entries()) {
    const { userId, name, email, holder, operator, verified, secondFactor } = row
    const { sessionId, reauthenticatedAt, method, rotate } = row
    const session = {
      sessionId,
      user: { id: userId, name, email, operator, holder, verified, secondFactor },
      ...(accounts[n] as AccountsOfUser),
      looksAt: operator ? row.looksAt : null,
      reauthenticatedAt,
      method,
      mustEnrol: require2fa && method === 'password' && !secondFactor,
      mustRotate: rotate,
    }
    kept[row.at - 1] = { session, isStale: row.stale }
  }
  return kept
}

/** Once a minute at most; several processes may do so at once. */
async function noteSeen(sql: Sql, sessionId: number, userId: number): Promise<void> {
  const old = sql`service_now() - interval '1 minute'`
  await sql`
    update sessions set seen_at = service_now()
     where id = (select id from sessions where id = ${sessionId} and seen_at < ${old} for no key update skip locked)`
  await sql`
    update users set last_seen_at = service_now()
     where id = (select id from users where id = ${userId} and (last_seen_at is null or last_seen_at < ${old})
                 for no key update skip locked)`
}

/** When the session's user proved again who they are. Undefined if the session is gone. */
export async function noteReauthentication(sql: AnySql, sessionId: number): Promise<Date | undefined> {
  const rows = await sql<{ at: Date }[]>`
    update sessions set reauthenticated_at = service_now() where id = ${sessionId} returning reauthenticated_at as at`
  return rows.length === 0 ? undefined : onlyRow(rows).at
}

/** For a clock that was moved: no session ends because of it, and no user has to prove again who they are. */
export async function moveSessions(sql: AnySql, milliseconds: number): Promise<void> {
  const by = sql`${milliseconds}::float8 * interval '1 millisecond'`
  await sql`
    update sessions set created_at = created_at + ${by}, seen_at = seen_at + ${by}, expires_at = expires_at + ${by},
           reauthenticated_at = reauthenticated_at + ${by}, rotated_at = rotated_at + ${by}`
}
