import { type Address, parseAddress } from '@postrider/core'
import { isGiven, MAX_RECIPIENTS, type RawMailbox } from './body.ts'
import type { Check, ValidationErrors } from './complaints.ts'

const MAX_EMAIL_LENGTH = 320
const BREAKS = /[\r\n\0]/

/** Rows 37, 38 and 8. */
export function checkFrom({ mail, complaints }: Check): void {
  const email = mail.from?.email
  if (!isGiven(email) || email === '') complaints.add('fromMissing', 'from.email')
  else if (isTooLong(email)) complaints.add('emailTooLong', 'from.email', { list: 'From' })
  else if (!addressOf(email)) complaints.add('fromInvalid', 'from')
  checkName(mail.from, 'from', complaints)
}

/** Rows 41, 43, 44 and 8. */
export function checkReplyTo({ mail, complaints }: Check): void {
  const { reply_to: replyTo, reply_to_list: list } = mail
  if (isGiven(replyTo)) {
    if (isTooLong(replyTo.email)) complaints.add('emailTooLong', 'reply_to.email', { list: 'Reply-To' })
    else if (!addressOf(replyTo.email)) complaints.add('replyToInvalid', 'reply_to')
    checkName(replyTo, 'reply_to', complaints)
  }
  if (!isGiven(list)) return
  if (isGiven(replyTo)) complaints.add('replyToBoth', 'reply_to')
  if (list.length > MAX_RECIPIENTS) {
    complaints.add('replyToListTooLong', 'reply_to_list')
    return
  }
  const addresses = list.map(({ email }) => addressOf(email))
  if (addresses.includes(undefined)) complaints.add('replyToListInvalid', 'reply_to_list')
  else if (new Set(addresses.map((address) => address?.key)).size < list.length) {
    complaints.add('replyToListTwice', 'reply_to_list')
  }
  for (const [at, mailbox] of list.entries()) checkName(mailbox, `reply_to_list.${at}`, complaints)
}

/** A name must not end its header field early. Commas and semicolons are quoted (contract 2.5). */
export function checkName(mailbox: RawMailbox | null | undefined, field: string, complaints: ValidationErrors): void {
  if (BREAKS.test(mailbox?.name ?? '')) complaints.add('nameBreaks', `${field}.name`)
}

export function isTooLong(email: unknown): boolean {
  return typeof email === 'string' && email.length > MAX_EMAIL_LENGTH
}

export function addressOf(email: unknown): Address | undefined {
  return typeof email === 'string' ? parseAddress(email) : undefined
}
