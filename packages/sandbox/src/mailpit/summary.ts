import { type Row, recipientsOf } from '../inbox-entry.ts'
import type { Marks } from '../marks.ts'
import { mailpitMailbox } from '../reading/mailpit-message.ts'
import type { Finder } from '../search/finder.ts'

const NOBODY = { name: '', address: '' }

/** A message as Mailpit lists it. */
export function summaryOf(row: Row, finder: Finder, marks: Marks) {
  const { id, subject, receivedAt, size, head } = row.entries[0]
  const { to, cc, bcc } = recipientsOf(row)
  const digest = finder.digestOf(row)
  return {
    ID: id,
    MessageID: head.messageId,
    Read: marks.isRead(row.message),
    From: mailpitMailbox(head.from ?? NOBODY),
    To: to.map(mailpitMailbox),
    Cc: cc.map(mailpitMailbox),
    Bcc: bcc.map(mailpitMailbox),
    ReplyTo: head.replyTo.map(mailpitMailbox),
    Subject: subject,
    Created: receivedAt,
    Username: '',
    Tags: marks.tagsOf(row.message),
    Size: size,
    Attachments: digest?.attachments ?? 0,
    Snippet: digest?.preview ?? '',
  }
}
