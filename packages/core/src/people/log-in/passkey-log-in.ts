import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { AnySql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { peekLink, takeLink } from '../links.ts'
import type { Client } from '../person.ts'
import { noteReauthentication, type Session } from '../sessions.ts'
import { makeToken } from '../tokens.ts'
import { createChallenges } from './challenges.ts'
import { checkPasskey } from './check-passkey.ts'
import { counted } from './count-log-in.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import { type LogInDependencies, type LogInResult, tooMany } from './log-in.ts'
import type { Reauthentication } from './reauthenticate.ts'

type Options = PublicKeyCredentialRequestOptionsJSON

/**
 * Log-in by passkey, in three places. The options are for `navigator.credentials.get`, and valid for 5 minutes; an answer counts once, and only in
 * the place and for the browser, the log-in or the session that its options were made for. `response`: the answer of the browser, unchanged.
 */
export interface PasskeyLogIn {
  /** The user chooses the passkey. `cookie` must be stored in the browser (HttpOnly) and given to `finishLogIn`. */
  beginLogIn(): Promise<{ options: Options; cookie: string }>
  finishLogIn(
    request: Client & {
      readonly response: unknown
      readonly cookie: string
      readonly replaces?: string | undefined
    },
  ): Promise<LogInResult>
  /** For a log-in whose password was right; `challenge` is that of `logIn`. Undefined if it has expired or its user has no passkey. */
  beginSecondFactor(challenge: string): Promise<Options | undefined>
  /** Counts like a code, see second-factor.ts. The passkey must be one of the user whose password it was. */
  finishSecondFactor(
    request: Client & {
      readonly challenge: string
      readonly response: unknown
      readonly replaces?: string | undefined
    },
  ): Promise<LogInResult>
  /** Undefined if the user has no passkey. */
  beginReauthentication(session: Session): Promise<Options | undefined>
  /** Counts like the password, see reauthenticate.ts. */
  reauthenticate(session: Session, response: unknown, address: string): Promise<Reauthentication>
}

export interface PasskeyDependencies extends LogInDependencies {
  readonly secrets: Secrets
  readonly publicUrl: string
}

export function createPasskeyLogIn(dependencies: PasskeyDependencies): PasskeyLogIn {
  const { sql, clock, sessions, limits, oidcOnly } = dependencies
  const { hostname: rpID, origin } = new URL(dependencies.publicUrl)
  const challengesOf = (context: string) => createChallenges(dependencies, 'passkey-log-in', context)
  const userOf = (context: string, response: unknown) =>
    checkPasskey({ sql, rpID, origin, challenges: challengesOf(context) }, response)

  async function optionsFor(context: string, ids: readonly string[] = []): Promise<Options> {
    const { generateAuthenticationOptions } = await loadWebAuthn()
    return generateAuthenticationOptions({
      rpID,
      challenge: new Uint8Array(Buffer.from(challengesOf(context).make(), 'base64url')),
      userVerification: 'required',
      allowCredentials: ids.map((id) => ({ id })),
    })
  }

  async function optionsForUser(context: string, userId: number): Promise<Options | undefined> {
    const passkeys = await sql<{ id: string }[]>`
      select credential_id as id from passkeys where user_id = ${userId} order by created_at, credential_id limit 20`
    return passkeys.length === 0 || oidcOnly
      ? undefined
      : optionsFor(
          context,
          passkeys.map(({ id }) => id),
        )
  }

  const finishLogIn: PasskeyLogIn['finishLogIn'] = async ({ response, cookie, address, agent, replaces }) => {
    if (oidcOnly || cookie === '') return { kind: 'refused' }
    const allowed = await limits.logIn('passkey', address)
    if (!allowed.allowed) return tooMany(clock, allowed)
    const userId = await userOf(inBrowser(cookie), response)
    if (userId === undefined) return { kind: 'refused' }
    allowed.release()
    const token = (await sql.begin(async (transaction) => {
      if (!(await isKept(transaction, response as { id: string }))) return undefined
      return sessions.begin(transaction, userId, 'passkey', { address, agent }, replaces)
    })) as string | undefined
    return token === undefined ? { kind: 'refused' } : { kind: 'session', token, userId }
  }

  const finishSecondFactor: PasskeyLogIn['finishSecondFactor'] = async ({
    challenge,
    response,
    address,
    agent,
    replaces,
  }) => {
    const { userId } = (await peekLink(sql, 'second-factor', challenge)) ?? {}
    if (!userId) return { kind: 'refused' }
    const allowed = await limits.code(userId)
    if (!allowed.allowed) return tooMany(clock, allowed)
    if ((await userOf(inLogIn(challenge), response)) !== userId) return { kind: 'refused' }
    allowed.release()
    const token = (await sql.begin(async (transaction) => {
      await takeLink(transaction, 'second-factor', challenge)
      return sessions.begin(transaction, userId, 'password', { address, agent }, replaces)
    })) as string
    return { kind: 'session', token, userId }
  }

  return {
    async beginLogIn() {
      const cookie = makeToken()
      return { options: await optionsFor(inBrowser(cookie)), cookie }
    },
    finishLogIn: (request) => counted('passkey', finishLogIn(request)),
    async beginSecondFactor(challenge) {
      const link = await peekLink(sql, 'second-factor', challenge)
      return link?.userId ? optionsForUser(inLogIn(challenge), link.userId) : undefined
    },
    finishSecondFactor: (request) => counted('second-factor', finishSecondFactor(request)),
    beginReauthentication: (session) => optionsForUser(inSession(session), session.user.id),
    async reauthenticate(session, response, address) {
      const allowed = await limits.logIn(`user ${session.user.id}`, address)
      if (!allowed.allowed) return tooMany(clock, allowed)
      if ((await userOf(inSession(session), response)) !== session.user.id) return { kind: 'refused' }
      allowed.release()
      const at = await noteReauthentication(sql, session.sessionId)
      sessions.forget()
      return at ? { kind: 'done', at } : { kind: 'refused' }
    },
  }
}

/** Keeps a passkey until the end of the transaction: who removes it, and ends all sessions, waits for the one that is made. */
async function isKept(sql: AnySql, { id }: { readonly id: string }): Promise<boolean> {
  return (await sql`select from passkeys where credential_id = ${id} for key share`).count > 0
}

const inBrowser = (cookie: string) => `browser ${cookie}`
const inLogIn = (challenge: string) => `log-in ${challenge}`
const inSession = ({ sessionId }: Session) => `session ${sessionId}`
