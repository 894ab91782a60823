import { readFileSync, statSync } from 'node:fs'
import type { Head, InboxEntry, Mailbox } from './inbox-entry.ts'
import { messageIdOf } from './reading/return-path.ts'

/** Reads the entry of a message; undefined if it is not whole. Earlier versions wrote the envelope and the subject only. */
export function readEntry(file: string, id: string): InboxEntry | undefined {
  try {
    const { from, to, subject, receivedAt, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const envelope = { from: String(from), to: String(to) }
    return {
      id,
      ...envelope,
      subject: String(subject),
      receivedAt: String(receivedAt),
      message: typeof rest.message === 'string' ? rest.message : (messageIdOf(envelope.from) ?? id),
      size: typeof rest.size === 'number' ? rest.size : sizeOf(file.replace(/json$/, 'eml')),
      head:
        typeof rest.head === 'object' && rest.head !== null ? headOf(rest.head as Raw<Head>) : envelopeHead(envelope),
    }
  } catch {
    return undefined
  }
}

type Raw<T> = { readonly [K in keyof T]?: unknown }

function headOf({ from, to, cc, replyTo, messageId }: Raw<Head>): Head {
  return {
    from: mailboxes([from])[0],
    to: mailboxes(to),
    cc: mailboxes(cc),
    replyTo: mailboxes(replyTo),
    messageId: String(messageId),
  }
}

function envelopeHead({ from, to }: Pick<InboxEntry, 'from' | 'to'>): Head {
  const mailbox = (address: string): Mailbox => ({ name: '', address })
  return { from: messageIdOf(from) ? undefined : mailbox(from), to: [mailbox(to)], cc: [], replyTo: [], messageId: '' }
}

function mailboxes(given: unknown): readonly Mailbox[] {
  if (!Array.isArray(given)) return []
  const found = given.filter((one): one is Raw<Mailbox> => typeof one === 'object' && one !== null)
  return found.map(({ name, address }) => ({ name: String(name), address: String(address) }))
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
