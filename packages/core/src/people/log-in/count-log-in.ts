import { count } from '../../platform/metrics/metrics.ts'
import type { LogInResult } from './log-in.ts'

const RESULTS = { session: 'accepted', refused: 'refused', 'too-many': 'limited' } as const

/** Counts a log-in in the metrics of this process, and returns its result. */
export async function counted<R extends { readonly kind: LogInResult['kind'] }>(
  method: 'password' | 'second-factor' | 'passkey' | 'openid',
  logIn: Promise<R>,
): Promise<R> {
  const result = await logIn
  if (result.kind !== 'second-factor') count('logins_total', { method, result: RESULTS[result.kind] })
  return result
}
