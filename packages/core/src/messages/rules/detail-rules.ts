import { isBlank } from '../../composition/stored-content.ts'
import { parseAddress } from '../../mime/address.ts'
import { parseMediaType } from '../../mime/media-type.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { hasEncodedWord } from '../../submission/header-rules.ts'
import { LIMITS } from '../../submission/limits.ts'
import type {
  ContentParts,
  Submission,
  SubmissionField,
  SubmittedAttachment,
  SubmittedEnvelope,
  SubmittedMailbox,
} from '../../submission/submission.ts'
import { bare } from '../prepare-details.ts'

const BREAKS = /[\r\n\0]/
/** RFC 2045 7 as commonly implemented: one line of ASCII without angle brackets. */
const CONTENT_ID = /^[!-;=?-~]([ -;=?-~]{0,253}[!-;=?-~])?$/
const LINK_PARAMETERS = 20

/**
 * Checks the fields that submission-details.ts adds to a submission, as strictly as the others: no value may inject header fields
 * (V20), and every length is limited. Throws parameterInvalid.
 */
export function checkDetails(submission: Submission): void {
  const { nameOf, replyToList = [], content, attachments, envelopes } = submission
  for (const mailbox of replyToList) checkMailbox(mailbox, nameOf('replyTo'))
  if (content.kind === 'parts') checkAlternatives(content, nameOf('content'))
  checkContentIds(attachments, (file) => nameOf('attachments', undefined, 'contentId', file))
  checkSettings(submission)
  for (const [at, envelope] of envelopes.entries()) checkEnvelope(envelope, at, submission)
}

function checkEnvelope(envelope: SubmittedEnvelope, at: number, { from, nameOf }: Submission): void {
  const name = (field: SubmissionField): string => nameOf(field, at)
  for (const shown of envelope.names?.values() ?? []) line(shown, name('names'))
  line(envelope.subject, name('subject'))
  checkContentIds(envelope.attachments, (file) => nameOf('attachments', at, 'contentId', file))
  if (!envelope.from) return
  checkMailbox(envelope.from, name('fromEmail'))
  // Only one sending domain is looked up, and its key signs all copies.
  if (parseAddress(envelope.from.email)?.domain !== parseAddress(from?.email ?? '')?.domain) {
    throw invalidParameter(name('fromEmail'), 'must use the same domain as the from address of the message')
  }
}

function checkMailbox({ email, name }: SubmittedMailbox, parameter: string): void {
  line(email, parameter)
  line(name, parameter)
  if (!parseAddress(email)) throw invalidParameter(parameter, 'is not a valid email address')
}

function checkAlternatives({ alternatives = [] }: ContentParts, parameter: string): void {
  if (alternatives.length > LIMITS.alternatives) {
    throw invalidParameter(parameter, `must have at most ${LIMITS.alternatives} entries`)
  }
  for (const { type, text } of alternatives) {
    // A text has no parts, and types of these kinds must not have a base64 or quoted-printable encoding (RFC 2046 5.1, 5.2.1).
    const essence = parseMediaType(type)?.essence
    if (essence === undefined || /^(multipart|message)\//.test(essence)) {
      throw invalidParameter(parameter, 'content type must be a text media type, not `multipart/*` or `message/*`')
    }
    wellFormed(text, parameter)
  }
}

function checkContentIds(attachments: readonly SubmittedAttachment[], nameOf: (file: number) => string): void {
  for (const [file, { contentId }] of attachments.entries()) {
    if (contentId !== undefined && !CONTENT_ID.test(bare(contentId))) {
      throw invalidParameter(nameOf(file), 'must have 1 to 255 printable ASCII characters')
    }
    if (contentId !== undefined && hasEncodedWord(contentId)) {
      throw invalidParameter(nameOf(file), 'must not contain an encoded word')
    }
  }
}

function checkSettings({ settings, nameOf }: Submission): void {
  const { footerTexts, openTag, unsubscribeTexts, linkParameters, groupsToDisplay } = settings
  for (const text of Object.values(footerTexts ?? {})) stored(text, nameOf('footer'), LIMITS.messageSize)
  stored(openTag ?? '', nameOf('openTracking'), LIMITS.settingText)
  for (const text of Object.values(unsubscribeTexts ?? {})) stored(text, nameOf('unsubscribe'), LIMITS.settingText)
  if (linkParameters) {
    const given = Object.entries(linkParameters)
    if (given.length > LINK_PARAMETERS)
      throw invalidParameter(nameOf('linkParameters'), `must have at most ${LINK_PARAMETERS} entries`)
    for (const text of given.flat()) stored(text, nameOf('linkParameters'), LIMITS.headerText)
  }
  if (groupsToDisplay && groupsToDisplay.length > LIMITS.groupsToDisplay) {
    throw invalidParameter(nameOf('groups'), `must have at most ${LIMITS.groupsToDisplay} entries`)
  }
}

/** Returns whether every envelope has its own subject, so that the message needs none. */
export function everyEnvelopeHasSubject({ envelopes }: Submission): boolean {
  return envelopes.every(({ subject }) => !isBlank(subject))
}

function line(value: string | undefined, parameter: string): void {
  if (value === undefined) return
  if (BREAKS.test(value)) throw invalidParameter(parameter, 'must not contain CR, LF or NUL')
  if (value.length > LIMITS.headerText) {
    throw invalidParameter(parameter, `must have at most ${LIMITS.headerText} characters`)
  }
  wellFormed(value, parameter)
}

/** Checks a value stored with the message: the database accepts all characters except NUL. */
function stored(value: string, parameter: string, most: number): void {
  if (value.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
  if (value.length > most) throw invalidParameter(parameter, `must have at most ${most} characters`)
  wellFormed(value, parameter)
}

function wellFormed(value: string, parameter: string): void {
  if (!value.isWellFormed()) throw invalidParameter(parameter, 'is not well-formed Unicode')
}
