/** The list's data about a message. `from` (the return path) and `to` are the envelope's addresses. */
export interface InboxEntry {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly receivedAt: string
}
