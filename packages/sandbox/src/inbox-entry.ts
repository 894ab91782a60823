/** A mailbox of a header field, decoded. */
export interface Mailbox {
  readonly name: string
  readonly address: string
}

/** The addresses of a message's header, within bounds: the inbox keeps them in memory for all its messages. */
export interface Head {
  readonly from: Mailbox | undefined
  readonly to: readonly Mailbox[]
  readonly cc: readonly Mailbox[]
  readonly replyTo: readonly Mailbox[]
  /** Without its brackets. */
  readonly messageId: string
}

/** A copy of a message: one for each recipient. `from` (the return path) and `to` are the envelope's addresses. */
export interface InboxEntry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly receivedAt: string
  /** Copies of the same message have the same one. */
  readonly message: string
  /** Bytes. */
  readonly size: number
  readonly head: Head
}

/** An entry as `/messages` lists it. `sender` is the From header; `from` is the return path. */
export type ListedEntry = Pick<InboxEntry, 'id' | 'from' | 'to' | 'subject' | 'receivedAt'> & {
  readonly sender: string
}

export function listed({ id, from, to, subject, receivedAt, head }: InboxEntry): ListedEntry {
  return { id, from, to, subject, receivedAt, sender: head.from ? mailboxText(head.from) : '' }
}

export function mailboxText({ name, address }: Mailbox): string {
  return name === '' ? address : `${name} <${address}>`
}

/** One message with its copies, the first of which came first. Its id is that of the first. */
export interface Row {
  readonly message: string
  readonly entries: readonly [InboxEntry, ...InboxEntry[]]
}

/** Whom a message went to: those whom the headers of its copies name, and those of the envelopes whom they do not. */
export interface Recipients {
  /** The message's id. */
  readonly id: string
  readonly to: readonly Mailbox[]
  readonly cc: readonly Mailbox[]
  readonly bcc: readonly Mailbox[]
}

/** Copies whose headers and envelopes are looked at: anybody can send copies of a message. */
const MAX_COPIES = 100

export function recipientsOf({ entries }: Row): Recipients {
  const copies = entries.slice(0, MAX_COPIES)
  const to = distinct(copies.flatMap(({ head }) => head.to))
  const cc = distinct(copies.flatMap(({ head }) => head.cc))
  const named = new Set([...to, ...cc].map(({ address }) => address.toLowerCase()))
  const bcc = distinct(copies.map((copy) => ({ name: '', address: copy.to })))
  return { id: entries[0].id, to, cc, bcc: bcc.filter(({ address }) => !named.has(address.toLowerCase())) }
}

function distinct(mailboxes: readonly Mailbox[]): readonly Mailbox[] {
  const byAddress = new Map<string, Mailbox>()
  for (const one of mailboxes) {
    const key = one.address.toLowerCase()
    if (!byAddress.has(key)) byAddress.set(key, one)
  }
  return [...byAddress.values()]
}
