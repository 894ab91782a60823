import mimeTypes from 'mime-types'
import { invalidParameter } from '../errors.ts'
import { hasMergeTags } from './merge.ts'
import type { Submission, SubmissionField, SubmittedAttachment, SubmittedEnvelope } from './submission.ts'

/**
 * Refuses what a submission may say (submission-details.ts) and settle.ts does not store and compose.ts does not write yet, so
 * that nothing is dropped silently. A line goes away with what makes it true; the file goes away with the last one.
 */
export function refuseNotCarried(submission: Submission): void {
  const { nameOf, content, settings } = submission
  refuse(nameOf, [
    [submission.replyToList !== undefined, 'replyTo'],
    [submission.templateKey !== undefined, 'template'],
    [submission.batchId !== undefined, 'batch'],
    [content.kind === 'parts' && content.alternatives !== undefined, 'content'],
    [submission.attachments.some(isSpecial), 'attachments'],
    [settings.bypass !== undefined, 'bypass'],
    [settings.footerTexts !== undefined, 'footer'],
    [settings.openTag !== undefined, 'openTracking'],
    [settings.unsubscribeTexts !== undefined, 'unsubscribe'],
    [submission.literal === true && holdsMergeTags(submission), 'content'],
  ])
  for (const [at, envelope] of submission.envelopes.entries()) refuseInEnvelope(envelope, at, nameOf)
}

/** Anything but an ordinary attachment of the type its name says. */
function isSpecial({ fileName, type, disposition, contentId }: SubmittedAttachment): boolean {
  const ordinary = mimeTypes.lookup(fileName) || 'application/octet-stream'
  return (type !== undefined && type.toLowerCase() !== ordinary) || disposition === 'inline' || contentId !== undefined
}

function refuseInEnvelope(envelope: SubmittedEnvelope, at: number, nameOf: Submission['nameOf']): void {
  const wanted: readonly (readonly [boolean, SubmissionField])[] = [
    [envelope.names !== undefined, 'names'],
    [envelope.from !== undefined, 'fromEmail'],
    [envelope.subject !== undefined, 'subject'],
    [envelope.scheduledAt !== undefined, 'scheduledAt'],
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

function holdsMergeTags({ from, subject, content, envelopes }: Submission): boolean {
  const { html, text, amp } = content.kind === 'parts' ? content : {}
  const headers = envelopes.flatMap(({ headers }) => Object.values(headers))
  return [from?.name, subject, html, text, amp, ...headers].some((one) => one !== undefined && hasMergeTags(one))
}
