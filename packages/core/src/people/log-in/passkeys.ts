import { isIP } from 'node:net'
import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { requireLive, type Session } from '../sessions.ts'
import { validPersonName } from '../users.ts'
import { createChallenges } from './challenges.ts'
import { loadWebAuthn } from './load-webauthn.ts'
import { createPasskeyLogIn, type PasskeyDependencies, type PasskeyLogIn } from './passkey-log-in.ts'
import { requireFresh } from './reauthenticate.ts'
import { makeRecoveryCodes } from './recovery-codes.ts'

/** A passkey as its user sees it. */
export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly usedAt: Date | null
}

/**
 * Passkeys (WebAuthn): the user is verified by the device, so a passkey is a log-in without password and without a further second
 * factor. It is bound to the host of PUBLIC_URL.
 */
export interface Passkeys extends PasskeyLogIn {
  /** Whether browsers offer passkeys for the host of PUBLIC_URL, and OIDC_ONLY does not refuse them. */
  readonly isOn: boolean
  list(userId: number): Promise<Passkey[]>
  /** Options for `navigator.credentials.create`, valid for 5 minutes. Throws reauthenticationNeeded, and parameterInvalid (passkey) beyond 20. */
  beginRegistration(session: Session): Promise<PublicKeyCredentialCreationOptionsJSON>
  /**
   * Stores a passkey. With the first second factor of the user, ten recovery codes are made, shown once; otherwise null. Throws
   * passkeyInvalid, reauthenticationNeeded, and parameterInvalid (name).
   */
  finishRegistration(
    session: Session,
    passkey: { readonly name: string; readonly response: unknown },
    address: string,
  ): Promise<{ recoveryCodes: string[] | null }>
  /** Throws reauthenticationNeeded. False if the user has no such passkey. */
  remove(session: Session, id: string, address: string): Promise<boolean>
}

const MAX_PASSKEYS = 20
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

export function createPasskeys(dependencies: PasskeyDependencies): Passkeys {
  const { sql, clock, sessions, oidcOnly } = dependencies
  const { hostname: rpID, origin } = new URL(dependencies.publicUrl)
  const challengesOf = (userId: number) => createChallenges(dependencies, 'passkey-register', String(userId))

  return {
    ...createPasskeyLogIn(dependencies),
    isOn: !oidcOnly && isPossible(dependencies.publicUrl),
    list: (userId) => selectPasskeys(sql, userId),
    async beginRegistration(session) {
      requireFresh(session, clock)
      const { id, email, name } = session.user
      const known = await selectPasskeys(sql, id)
      if (known.length >= MAX_PASSKEYS)
        throw invalidParameter('passkey', `limit of ${MAX_PASSKEYS} reached; remove one first`)
      const { generateRegistrationOptions } = await loadWebAuthn()
      return generateRegistrationOptions({
        rpName: 'Postrider',
        rpID,
        userName: email ?? name,
        userDisplayName: name,
        userID: new Uint8Array(Buffer.from(String(id))),
        challenge: new Uint8Array(Buffer.from(challengesOf(id).make(), 'base64url')),
        attestationType: 'none',
        excludeCredentials: known.map((passkey) => ({ id: passkey.id })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
    },
    finishRegistration: (session, passkey, address) => {
      requireFresh(session, clock)
      return register({ ...dependencies, rpID, origin }, session, passkey, address)
    },
    async remove(session, id, address) {
      requireFresh(session, clock)
      const userId = session.user.id
      const removed = (await sql.begin(async (transaction) => {
        await requireLive(transaction, { sessionId: session.sessionId, userId })
        const rows = await transaction`delete from passkeys where credential_id = ${id} and user_id = ${userId}`
        await transaction`
          delete from recovery_codes where user_id = ${userId}
             and not exists (select from passkeys where user_id = ${userId})
             and not exists (select from users where id = ${userId} and totp_confirmed_at is not null)`
        if (rows.count > 0) await note(transaction, userId, address, 'user.passkey-remove')
        return rows.count > 0
      })) as boolean
      sessions.forget()
      return removed
    },
  }
}

/** Browsers want a secure context and the name of a host (WebAuthn 5.1.3, 5.4.2). */
function isPossible(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  if (hostname === 'localhost') return true
  return protocol === 'https:' && isIP(hostname) === 0 && !hostname.startsWith('[')
}

async function register(
  { rpID, origin, ...dependencies }: PasskeyDependencies & { readonly rpID: string; readonly origin: string },
  { user, sessionId }: Session,
  { name, response }: { readonly name: string; readonly response: unknown },
  address: string,
): Promise<{ recoveryCodes: string[] | null }> {
  const { sql, sessions } = dependencies
  const label = validPersonName(name)
  const challenges = createChallenges(dependencies, 'passkey-register', String(user.id))
  let challenge = ''
  const { verifyRegistrationResponse } = await loadWebAuthn()
  const info = await verifyRegistrationResponse({
    response: response as RegistrationResponseJSON,
    expectedChallenge: (given) => challenges.isOurs((challenge = given)),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
  }).then(
    ({ registrationInfo }) => registrationInfo,
    () => undefined,
  )
  if (!info) throw new ServiceError('passkeyInvalid')
  const { id, publicKey, counter } = info.credential
  const { transports: given } = (response as RegistrationResponseJSON).response
  const transports = Array.isArray(given) ? given.filter((one) => TRANSPORTS.includes(one)) : []
  const recoveryCodes = (await sql.begin(async (transaction) => {
    if (!(await challenges.use(transaction, challenge))) throw new ServiceError('passkeyInvalid')
    await requireLive(transaction, { sessionId, userId: user.id })
    if ((await selectPasskeys(transaction, user.id)).length >= MAX_PASSKEYS) throw new ServiceError('passkeyInvalid')
    const made = await transaction`
      insert into passkeys (credential_id, user_id, public_key, counter, transports, name)
      values (${id}, ${user.id}, ${Buffer.from(publicKey)}, ${counter}, ${transports}::text[], ${label}) on conflict do nothing`
    if (made.count === 0) throw new ServiceError('passkeyInvalid')
    await note(transaction, user.id, address, 'user.passkey')
    const codes = await transaction`select from recovery_codes where user_id = ${user.id} limit 1`
    return codes.count > 0 ? null : makeRecoveryCodes(transaction, user.id)
  })) as string[] | null
  sessions.forget()
  return { recoveryCodes }
}

async function selectPasskeys(sql: AnySql, userId: number): Promise<Passkey[]> {
  return sql<Passkey[]>`
    select credential_id as id, name, created_at as "createdAt", used_at as "usedAt"
      from passkeys where user_id = ${userId} order by created_at, credential_id`
}

function note(sql: AnySql, userId: number, address: string, action: string): Promise<void> {
  const by = { keyId: null, userId, address }
  return noteChange(sql, { accountId: ALL_ACCOUNTS, by, action, object: `user ${userId}` })
}
