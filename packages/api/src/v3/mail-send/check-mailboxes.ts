import { type Address, parseAddress } from '@postrider/core'
import { isGiven, isNamed, MAX_RECIPIENTS, type RawMailbox } from './body.ts'
import type { Check, ValidationErrors } from './validation-errors.ts'

const MAX_EMAIL_LENGTH = 320
const BREAKS = /[\r\n\0]/

/** Rows 37, 38 and 8. */
export function checkFrom({ mail, errors }: Check): void {
  const email = mail.from?.email
  if (!isGiven(email) || email === '') errors.add('fromMissing', 'from.email')
  else if (isTooLong(email)) errors.add('emailTooLong', 'from.email', { list: 'From' })
  else if (!addressOf(email)) errors.add('fromInvalid', 'from')
  checkName(mail.from, 'from', errors)
}

/** Rows 41, 43, 44 and 8. */
export function checkReplyTo({ mail, errors }: Check): void {
  const { reply_to: replyTo, reply_to_list: list } = mail
  if (isNamed(replyTo)) {
    if (isTooLong(replyTo.email)) errors.add('emailTooLong', 'reply_to.email', { list: 'Reply-To' })
    else if (!addressOf(replyTo.email)) errors.add('replyToInvalid', 'reply_to')
    checkName(replyTo, 'reply_to', errors)
  }
  if (!isGiven(list) || list.length === 0) return
  if (isNamed(replyTo)) errors.add('replyToBoth', 'reply_to')
  if (list.length > MAX_RECIPIENTS) {
    errors.add('replyToListTooLong', 'reply_to_list')
    return
  }
  const addresses = list.map(({ email }) => addressOf(email))
  if (addresses.includes(undefined)) errors.add('replyToListInvalid', 'reply_to_list')
  else if (new Set(addresses.map((address) => address?.key)).size < list.length) {
    errors.add('replyToListTwice', 'reply_to_list')
  }
  for (const [at, mailbox] of list.entries()) checkName(mailbox, `reply_to_list.${at}`, errors)
}

/** A name must not end its header field early. Commas and semicolons are quoted (contract 2.5). */
export function checkName(mailbox: RawMailbox | null | undefined, field: string, errors: ValidationErrors): void {
  if (BREAKS.test(mailbox?.name ?? '')) errors.add('nameBreaks', `${field}.name`)
}

export function isTooLong(email: unknown): boolean {
  return typeof email === 'string' && email.length > MAX_EMAIL_LENGTH
}

export function addressOf(email: unknown): Address | undefined {
  return typeof email === 'string' ? parseAddress(email) : undefined
}
