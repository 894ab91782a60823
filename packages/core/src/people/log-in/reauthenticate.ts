import type { Clock } from '../../platform/clock.ts'
import { ServiceError } from '../../platform/errors.ts'
import { noteReauthentication, type Session } from '../sessions.ts'
import { selectUser } from '../users.ts'
import { type LogInDependencies, tooMany } from './log-in.ts'

/** Minutes for which a proof of who the user is counts. */
const FRESH_MINUTES = 10

/** Whether the user proved who they are within 10 minutes. */
export function isFresh({ reauthenticatedAt }: Session, clock: Clock): boolean {
  return clock.now() - reauthenticatedAt.getTime() < FRESH_MINUTES * 60_000
}

/** Throws reauthenticationNeeded unless the session is fresh. */
export function requireFresh(session: Session, clock: Clock): void {
  if (!isFresh(session, clock)) throw new ServiceError('reauthenticationNeeded')
}

export type Reauthentication =
  | { readonly kind: 'done'; readonly at: Date }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many'; readonly until: Date }

/** Checks the password of a session's user again. Failures count with those of log-ins. */
export async function reauthenticate(
  { sql, clock, limits, passwords, sessions }: LogInDependencies,
  { user: { id }, sessionId }: Session,
  { password, address }: { readonly password: string; readonly address: string },
): Promise<Reauthentication> {
  const allowed = await limits.logIn(`user ${id}`, address)
  if (!allowed.allowed) return tooMany(clock, allowed)
  const user = await selectUser(sql, id)
  try {
    if (!(await passwords.matches(password, user?.password ?? null, { queue: 'user', who: `user ${id}` })))
      return { kind: 'refused' }
  } catch (error) {
    if (error instanceof ServiceError && error.errorName === 'overloaded') allowed.release()
    throw error
  }
  allowed.release()
  const at = await noteReauthentication(sql, sessionId)
  sessions.forget()
  return at ? { kind: 'done', at } : { kind: 'refused' }
}
