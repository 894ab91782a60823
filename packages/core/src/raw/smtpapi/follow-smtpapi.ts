import { inTurns, longWork } from '../../platform/concurrency/turns.ts'
import type { Submission } from '../../submission/submission.ts'
import { readSmtpApi, type SmtpApi } from './smtpapi.ts'
import { applySmtpApi, problemsOf, type SmtpApiTarget } from './smtpapi-submission.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

/** The submission with the field applied, or why nothing can be sent. */
export type Followed =
  | { readonly submission: Submission; readonly api: SmtpApi }
  | { readonly problems: readonly SmtpApiProblem[] }

/**
 * Reads the value of X-SMTPAPI, which must not be blank, and applies it to the submission. `unknown` reports the objects named in it that the account
 * does not have. Throws messageMalformed, overloaded.
 */
export async function followSmtpApi(
  written: string,
  target: SmtpApiTarget,
  unknown: (api: SmtpApi) => Promise<SmtpApiProblem[]>,
): Promise<Followed> {
  const reading = await inTurns(readSmtpApi(written, target.now))
  const work = longWork()
  if (reading.kind === 'wrong') return { problems: reading.problems }
  const { api } = reading
  const problems = problemsOf(api, target.recipients)
  if (problems.length > 0) return { problems }
  await work.pause()
  const missing = await unknown(api)
  if (missing.length > 0) return { problems: missing }
  const applied = await applySmtpApi(target, api)
  await work.pause()
  return 'problem' in applied ? { problems: [applied] } : { submission: applied, api }
}
