import { createHash } from 'node:crypto'
import type { Attachment } from 'mailparser'
import type { Mailbox } from '../inbox-entry.ts'
import { mailboxes } from './head.ts'
import { textOf } from './html-parts.ts'
import { messageLinks, unsubscribeAddresses } from './message-links.ts'
import type { MailpitOrder } from './message-orders.ts'
import type { Shown } from './show-message.ts'

/** Mailboxes of a field. */
const MAX_MAILBOXES = 1000
const MAX_TEXT = 256 * 1024

/** A mailbox in the form of Mailpit's API. */
export function mailpitMailbox({ name, address }: Mailbox): { readonly Name: string; readonly Address: string } {
  return { Name: name, Address: address }
}

/** A message as Mailpit's `GET /api/v1/message/{ID}` answers it. Runs in a thread. */
export function mailpitMessage(shown: Shown, { entry, recipients, tags }: MailpitOrder): string {
  const { message, parsed, size } = shown
  const list = (field: Parameters<typeof mailboxes>[0]) =>
    [...mailboxes(field)].slice(0, MAX_MAILBOXES).map(mailpitMailbox)
  const attachments = (parsed?.attachments ?? []).map(attachmentOf)
  return JSON.stringify({
    ID: recipients.id,
    MessageID: entry.head.messageId,
    From: list(parsed?.from)[0] ?? { Name: '', Address: '' },
    To: recipients.to.map(mailpitMailbox),
    Cc: recipients.cc.map(mailpitMailbox),
    Bcc: recipients.bcc.map(mailpitMailbox),
    ReplyTo: list(parsed?.replyTo),
    ReturnPath: entry.from,
    Subject: entry.subject,
    ListUnsubscribe: unsubscribeOf(shown),
    Date: dateOf(parsed?.date) ?? entry.receivedAt,
    Tags: tags,
    Username: '',
    Text: message.text ?? textOf(message.html ?? '', MAX_TEXT),
    HTML: message.html ?? '',
    Size: size,
    Inline: attachments.filter(({ isInline }) => isInline).map(({ part }) => part),
    Attachments: attachments.filter(({ isInline }) => !isInline).map(({ part }) => part),
  })
}

/** The header in the form of Mailpit: names as Go writes them, in their order, each with all its values. */
export function mailpitHeaders({ message }: Shown): string {
  const fields = new Map<string, string[]>()
  for (const { name, value } of message.headers) {
    const canonical = name.toLowerCase().replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
    const values = fields.get(canonical) ?? []
    values.push(value.replace(/\r?\n[ \t]{0,998}/g, ' '))
    fields.set(canonical, values)
  }
  return JSON.stringify(Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** Part ids are numbers from 1, in the order of the message. */
function attachmentOf(
  { cid, content, contentDisposition, contentType, filename, related, size }: Attachment,
  at: number,
) {
  const hash = (algorithm: string) => createHash(algorithm).update(content).digest('hex')
  return {
    isInline: related || contentDisposition === 'inline',
    part: {
      PartID: String(at + 1),
      FileName: filename ?? '',
      ContentType: contentType,
      ContentID: cid ?? '',
      Size: size,
      Checksums: { MD5: hash('md5'), SHA1: hash('sha1'), SHA256: hash('sha256') },
    },
  }
}

function unsubscribeOf(shown: Shown) {
  const { unsubscribe } = messageLinks(shown)
  if (!unsubscribe) return { Header: '', Links: [], Errors: '', HeaderPost: '' }
  const links = unsubscribeAddresses(unsubscribe)
  const Errors = links.length === 0 ? 'no link found' : ''
  return { Header: unsubscribe.header, Links: links, Errors, HeaderPost: unsubscribe.post }
}

function dateOf(date: Date | undefined): string | undefined {
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined
}
