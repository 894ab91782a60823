import type { RecipientData } from '../composition/recipient-data.ts'
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

/** Returns the data of an envelope that replace the message's (submission-details.ts). */
export function ownOf({ names, from, subject, scheduledAt }: SubmittedEnvelope): Partial<RecipientData> {
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

/** Returns the per-recipient data of one envelope of a MIME message; null if there are none. */
export function personalOfMime(
  content: MimeContent,
  envelope: SubmittedEnvelope,
  number: number,
): RecipientData | null {
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

/** Returns a mailbox with canonical address and trimmed name. */
export function canonicalMailbox({ email, name }: SubmittedMailbox): SubmittedMailbox {
  return { email: parseAddress(email)?.text ?? email, name: name.trim() }
}

/** Returns an alternative with its media type as written in every copy. */
export function canonicalAlternative({ type, text }: Alternative): Alternative {
  const parsed = parseMediaType(type)
  return { type: parsed ? formatMediaType(parsed) : type, text }
}

/** Returns the subject shown in lists of messages: the message's, or else that of the first envelope that has its own. */
export function shownSubject(submission: Submission, stored: StoredContent | undefined): string {
  const subject = subjectOf(submission, stored)
  if (!isBlank(subject)) return subject
  return submission.envelopes.find((envelope) => !isBlank(envelope.subject))?.subject ?? subject
}

/** Returns the header data of a file; undefined for an ordinary attachment with the type of its file name. */
export function headOf({ fileName, type, disposition, contentId }: SubmittedAttachment): FileHead | undefined {
  const own = ownType(type)
  const head: FileHead = {
    ...(own !== undefined && own !== typeByName(fileName) ? { type: own } : {}),
    ...(disposition === 'inline' ? { inline: true } : {}),
    ...(contentId === undefined ? {} : { contentId: bare(contentId) }),
  }
  return Object.keys(head).length > 0 ? head : undefined
}

/** Returns the given type; undefined for an invalid or multipart type, because files have no parts (RFC 2046 5). */
function ownType(type: string | undefined): string | undefined {
  const parsed = type === undefined ? undefined : parseMediaType(type)
  return parsed && !parsed.essence.startsWith('multipart/') ? formatMediaType(parsed) : undefined
}

/** Returns a Content-ID without angle brackets or the scheme of a reference to it, which some clients include. */
export function bare(contentId: string): string {
  const id = /^<(.*)>$/.exec(contentId.trim())?.[1] ?? contentId.trim()
  return id.slice(0, 4).toLowerCase() === 'cid:' ? id.slice(4) : id
}
