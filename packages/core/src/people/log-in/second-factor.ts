import type { Secrets } from '../../platform/security/secrets.ts'
import { peekLink, takeLink } from '../links.ts'
import type { Client } from '../person.ts'
import { selectUser } from '../users.ts'
import { type LogInDependencies, type LogInResult, tooMany } from './log-in.ts'
import { useRecoveryCode } from './recovery-codes.ts'
import { useCode } from './totp.ts'

export interface SecondFactorRequest extends Client {
  /** From `logIn`. */
  readonly challenge: string
  /** A code of the authenticator app, or a recovery code. */
  readonly code: string
  readonly replaces?: string | undefined
}

/**
 * Completes a log-in with a code. A wrong code leaves the challenge valid; at most 10 wrong ones per user in 15 minutes. Refused if the
 * challenge was used or has expired: the user begins again.
 */
export async function completeLogIn(
  { sql, clock, secrets, limits, sessions }: LogInDependencies & { readonly secrets: Secrets },
  { challenge, code, address, agent, replaces }: SecondFactorRequest,
): Promise<LogInResult> {
  const link = await peekLink(sql, 'second-factor', challenge)
  const user = link?.userId ? await selectUser(sql, link.userId) : undefined
  if (!user || user.disabled) return { kind: 'refused' }
  const allowed = await limits.code(user.id)
  if (!allowed.allowed) return tooMany(clock, allowed)
  const token = (await sql.begin(async (transaction) => {
    const isRight =
      (await useCode(transaction, { secrets, clock }, user.id, code, { confirmed: true })) ||
      (await useRecoveryCode(transaction, user.id, code))
    if (!isRight) return undefined
    await takeLink(transaction, 'second-factor', challenge)
    return sessions.begin(transaction, user.id, 'password', { address, agent }, replaces)
  })) as string | undefined
  if (token === undefined) return { kind: 'refused' }
  allowed.release()
  return { kind: 'session', token, userId: user.id }
}
