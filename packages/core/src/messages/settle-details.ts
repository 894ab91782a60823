import type { Personal } from '../composition/personal.ts'
import { isBlank, type StoredContent, subjectOf } from '../composition/stored-content.ts'
import { parseAddress } from '../mime/address.ts'
import { formatMediaType, parseMediaType } from '../mime/media-type.ts'
import { type FileHead, typeByName } from '../mime/parts.ts'
import type {
  MimeContent,
  Submission,
  SubmittedAttachment,
  SubmittedEnvelope,
  SubmittedMailbox,
} from '../submission/submission.ts'
import type { Alternative } from '../submission/submission-details.ts'

/** What an envelope has in place of the message's own (submission-details.ts). */
export function ownOf({ names, from, subject, scheduledAt }: SubmittedEnvelope): Partial<Personal> {
  return {
    ...(names && names.size > 0 ? { names: namesOf(names) } : {}),
    ...(from ? { from: canonicalMailbox(from) } : {}),
    ...(subject === undefined ? {} : { subject }),
    ...(scheduledAt ? { scheduledAt: scheduledAt.toISOString() } : {}),
  }
}

function namesOf(names: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    [...names].flatMap(([written, name]) => {
      const address = parseAddress(written)?.text
      return address === undefined ? [] : [[address, name.trim()]]
    }),
  )
}

/** All that the copies of one envelope of a MIME message can have of their own. */
export function personalOfMime(content: MimeContent, envelope: SubmittedEnvelope, number: number): Personal | null {
  const { to, names, customArgs, scheduledAt } = envelope
  const [written = ''] = to
  const address = content.ownTo ? parseAddress(written)?.text : undefined
  const own = {
    ...(address === undefined ? {} : { ownTo: { name: names?.get(written) ?? '', address } }),
    ...(scheduledAt ? { scheduledAt: scheduledAt.toISOString() } : {}),
    ...(customArgs ? { customArgs } : {}),
  }
  return Object.keys(own).length > 0 ? { envelope: number, ...own } : null
}

export function canonicalMailbox({ email, name }: SubmittedMailbox): SubmittedMailbox {
  return { email: parseAddress(email)?.text ?? email, name: name.trim() }
}

/** Its type as it is written in every copy. */
export function canonicalAlternative({ type, text }: Alternative): Alternative {
  const parsed = parseMediaType(type)
  return { type: parsed ? formatMediaType(parsed) : type, text }
}

/** As lists of messages show it: of envelopes that have their own, the first one's. */
export function shownSubject(submission: Submission, stored: StoredContent | undefined): string {
  const subject = subjectOf(submission, stored)
  if (!isBlank(subject)) return subject
  return submission.envelopes.find((envelope) => !isBlank(envelope.subject))?.subject ?? subject
}

/** Undefined for an ordinary attachment of the type its name says. */
export function headOf({ fileName, type, disposition, contentId }: SubmittedAttachment): FileHead | undefined {
  const own = ownType(type)
  const head: FileHead = {
    ...(own !== undefined && own !== typeByName(fileName) ? { type: own } : {}),
    ...(disposition === 'inline' ? { inline: true } : {}),
    ...(contentId === undefined ? {} : { contentId: bare(contentId) }),
  }
  return Object.keys(head).length > 0 ? head : undefined
}

/** What is no type at all is as if it had been left out; and a file's octets have no parts (RFC 2046 5). */
function ownType(type: string | undefined): string | undefined {
  const parsed = type === undefined ? undefined : parseMediaType(type)
  return parsed && !parsed.essence.startsWith('multipart/') ? formatMediaType(parsed) : undefined
}

/** Some clients write the brackets. */
export function bare(contentId: string): string {
  return /^<(.*)>$/.exec(contentId.trim())?.[1] ?? contentId.trim()
}
