import { parseAddress } from '../mime/address.ts'
import { edited } from '../mime/conformance/edits.ts'
import { mailboxField } from '../mime/header.ts'
import { onlyMailbox } from '../mime/mailboxes.ts'
import { inTurns } from '../platform/concurrency/turns.ts'
import { type Head, readHeader } from './read-header.ts'

/** Maximum length of a From field whose name is kept. */
const MAX_LENGTH = 998

/** The header with this address in From. The name stays there, and the address that it had is in Reply-To, unless there is one. */
export async function withSender(head: Head, address: string): Promise<Head> {
  const { first, fields, receivedBodyStart, corrections } = head
  const from = fields.find(({ name }) => name === 'from')
  if (!from) return head
  const name = from.value.length > MAX_LENGTH ? '' : (onlyMailbox(from.value)?.name ?? '')
  const before = fields.some((field) => field.name === 'reply-to') ? undefined : parseAddress(head.from?.email ?? '')
  const replyTo = before ? mailboxField('Reply-To', [{ name: '', address: before.text }]) : ''
  const text = Buffer.from(mailboxField('From', [{ name, address }]) + replyTo)
  const again = await inTurns(readHeader(edited(first, [{ start: from.start, end: from.end, text }]), undefined))
  return { ...again, receivedBodyStart, corrections: [...corrections, `From was changed to ${address}`] }
}
