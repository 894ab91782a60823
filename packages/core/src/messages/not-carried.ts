import { invalidParameter } from '../errors.ts'
import type { Submission, SubmissionField, SubmittedEnvelope } from './submission.ts'

/**
 * Refuses what a submission may say (submission-details.ts) and settle.ts does not store and compose.ts does not write yet, so
 * that nothing is dropped silently. A line goes away with what makes it true; the file goes away with the last one.
 */
export function refuseNotCarried(submission: Submission): void {
  const { nameOf, settings } = submission
  refuse(nameOf, [
    [submission.templateKey !== undefined, 'template'],
    [submission.batchId !== undefined, 'batch'],
    [settings.bypass !== undefined, 'bypass'],
  ])
  for (const [at, envelope] of submission.envelopes.entries()) refuseInEnvelope(envelope, at, nameOf)
}

function refuseInEnvelope(envelope: SubmittedEnvelope, at: number, nameOf: Submission['nameOf']): void {
  const wanted: readonly (readonly [boolean, SubmissionField])[] = [
    [envelope.substitutions !== undefined, 'substitutions'],
    [envelope.data !== undefined, 'data'],
    [envelope.customArgs !== undefined, 'customArgs'],
  ]
  refuse((field) => nameOf(field, at), wanted)
}

function refuse(
  nameOf: (field: SubmissionField) => string,
  wanted: readonly (readonly [boolean, SubmissionField])[],
): void {
  const found = wanted.find(([isWanted]) => isWanted)
  if (found) throw invalidParameter(nameOf(found[1]), 'this is not supported yet')
}
