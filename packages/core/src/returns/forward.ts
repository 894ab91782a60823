import { readMark } from '../delivery/return-path.ts'
import type { ServiceMail } from '../messages/service-mail.ts'
import { SERVICE_MAIL_HOURS } from '../messages/service-mail.ts'
import { parseAddress } from '../mime/address.ts'
import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { findMentioned } from './find-target.ts'
import { type ClaimedLetter, claimLetter, saveForward, saveSummary, selectExcess } from './forward-store.ts'
import type { Letter } from './read/letter.ts'
import { type ReturnAddressReader, type Role, readReturnAddress } from './return-address.ts'
import type { ReturnReader } from './return-reader.ts'

/** Letters that are passed on in an hour of the clock; the others are counted in one summary. */
const MAX_PER_HOUR = 60
/** Days for which the reference of a message that this service has sent is recognised. */
const OWN_DAYS = 365

export interface ForwardDependencies extends ReturnAddressReader {
  readonly sql: Sql
  readonly reader: Pick<ReturnReader, 'readLetter'>
  readonly serviceMail: ServiceMail
  /** Letters per hour; MAX_PER_HOUR if omitted. */
  readonly perHour?: number | undefined
}

/** Whether letters to this address are passed on. */
export function isForwarded(role: Role | null): role is 'abuse' | 'postmaster' {
  return role === 'abuse' || role === 'postmaster'
}

/** The result of a round of forwarding. */
export interface Forwarded {
  /** Why a letter, or a summary of many, could not be sent yet. It is tried again. */
  readonly problem?: string
}

/**
 * Passes one letter on to OPERATOR_MAIL, or sends the summary of an hour with too many. A letter is sent once, whatever is killed when: its
 * id is the idempotency key, and it is given up before that expires. Mail that this service has sent itself, and of the null sender, is not
 * passed on. Returns undefined if nothing is due. Any number of processes may call it; one at a time gets a letter.
 */
export async function forwardSome(dependencies: ForwardDependencies): Promise<Forwarded | undefined> {
  const { sql, serviceMail, perHour = MAX_PER_HOUR } = dependencies
  const { operatorMail } = serviceMail
  if (operatorMail === undefined) return undefined
  try {
    const letter = await claimLetter(sql, perHour)
    if (!letter) return (await sendSummary(dependencies, operatorMail)) ? {} : undefined
    if (!letter.isExcess) await forward(dependencies, letter, operatorMail)
    return {}
  } catch (error) {
    if (error instanceof ServiceError) return { problem: error.message }
    throw error
  }
}

async function forward(
  { sql, reader, serviceMail, ...addresses }: ForwardDependencies,
  letter: ClaimedLetter,
  operatorMail: string,
): Promise<void> {
  const { id, content, mailFrom, hours } = letter
  if (mailFrom === '') return saveForward(sql, id, 'automatic', null)
  if (hours > SERVICE_MAIL_HOURS) return saveForward(sql, id, 'failed', null)
  const read = await reader.readLetter(content)
  if (isOwn(addresses, read)) return saveForward(sql, id, 'own', null)
  const { messageId } = await serviceMail.send({
    to: operatorMail,
    ...composed(letter, read, findMentioned(addresses.secrets, read.mentioned, addresses.now())?.messageId),
    replyTo: replyTo(addresses, read.author),
    key: `letter ${id}`,
  })
  await saveForward(sql, id, 'sent', messageId)
}

/** Whether this service has sent the message: it would come back again and again. */
function isOwn({ secrets, now }: ReturnAddressReader, { references }: Letter): boolean {
  return references.some((local) => readMark(secrets, 'reference', { local, now: now(), validDays: OWN_DAYS }))
}

/** Returns the author's address if a reply can be sent there; not one that comes back here. */
function replyTo(addresses: ReturnAddressReader, author: string): string | undefined {
  const address = parseAddress(author)
  return !address || address.utf8 || readReturnAddress(addresses, address.text) ? undefined : address.text
}

/** The whole letter as an attachment; of one that is not kept as a whole, the text. */
function composed(
  { id, role, receivedAt, mailFrom, size, content }: ClaimedLetter,
  { author, subject, text }: Letter,
  attached: string | undefined,
) {
  const isWhole = content.length >= size
  const head = [
    `This letter came to ${role}@ at ${receivedAt.toISOString()}.`,
    '',
    `From: ${author === '' ? 'unknown' : author} (unverified)`,
    `MAIL FROM: ${mailFrom === null ? 'unknown' : `<${mailFrom}>`}`,
    `Subject: ${subject}`,
    `Size: ${size} bytes`,
    '',
    isWhole
      ? 'It is attached unchanged. What it says and attaches is not checked.'
      : `It is too large to be attached: only its beginning (${content.length} bytes) is stored. Its text begins below.`,
    `"postrider returns show --raw ${id}" shows what is stored.`,
    '',
    ...(attached === undefined
      ? []
      : [
          `A message that this service has sent is attached: ${attached}`,
          `"postrider message why ${attached}" explains it.`,
          '',
        ]),
  ]
  const attachments = isWhole ? [{ fileName: 'letter.eml', content }] : []
  const lines = isWhole ? head : [...head, '-----', '', text]
  return {
    subject: `[${role}] ${subject === '' ? 'letter without a subject' : subject}`,
    text: lines.join('\n'),
    attachments,
  }
}

/** Returns whether there was a summary to send. */
async function sendSummary({ sql, serviceMail }: ForwardDependencies, operatorMail: string): Promise<boolean> {
  const excess = await selectExcess(sql)
  if (!excess) return false
  const { hour, letters } = excess
  const from = hour.toISOString()
  const to = new Date(hour.getTime() + 3_600_000).toISOString()
  const { messageId } = await serviceMail.send({
    to: operatorMail,
    subject: `${letters} more letters to abuse@ and postmaster@`,
    text: [
      `From ${from} to ${to}, more letters came to abuse@ and postmaster@ than are passed on in an hour.`,
      `Number of letters that were not passed on: ${letters}. They are stored:`,
      '',
      `postrider returns list --kind letter --since ${from}`,
      '',
    ].join('\n'),
    key: `letters beyond the limit ${from}`,
  })
  await saveSummary(sql, hour, messageId)
  return true
}
