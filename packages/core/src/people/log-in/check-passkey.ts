import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Sql } from '../../platform/database/database.ts'
import type { Challenges } from './challenges.ts'
import { loadWebAuthn } from './load-webauthn.ts'

/** RFC-sized credential ids have at most 1,023 octets (WebAuthn 4). */
const MAX_ID = 1400

/**
 * Returns the user whose passkey signed a challenge of this installation, for its host and origin; undefined otherwise. A challenge works
 * once, and the counter of a passkey never goes back.
 */
export async function checkPasskey(
  {
    sql,
    rpID,
    origin,
    challenges,
  }: { readonly sql: Sql; readonly rpID: string; readonly origin: string; readonly challenges: Challenges },
  given: unknown,
): Promise<number | undefined> {
  const response = given as AuthenticationResponseJSON
  if (typeof response?.id !== 'string' || response.id.length > MAX_ID || response.id.includes('\0')) return undefined
  const [passkey] = await sql<{ userId: number; publicKey: Buffer; counter: number }[]>`
    select k.user_id as "userId", k.public_key as "publicKey", k.counter::float8 as counter
      from passkeys k join users u on u.id = k.user_id where k.credential_id = ${response.id} and u.disabled_at is null`
  if (!passkey) return undefined
  const { userId, publicKey, counter } = passkey
  let challenge = ''
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  const info = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (given) => challenges.isOurs((challenge = given)),
    expectedOrigin: origin,
    expectedRPID: rpID,
    credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter },
    requireUserVerification: true,
  }).then(
    ({ verified, authenticationInfo }) => (verified ? authenticationInfo : undefined),
    () => undefined,
  )
  if (!info) return undefined
  const isUsed = (await sql.begin(async (transaction) => {
    if (!(await challenges.use(transaction, challenge))) return false
    const rows = await transaction`
      update passkeys set counter = ${info.newCounter}, used_at = service_now()
       where credential_id = ${response.id} and counter = ${counter}`
    return rows.count > 0
  })) as boolean
  return isUsed ? userId : undefined
}
