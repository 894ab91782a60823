import type { NoticeKind } from './note-owners.ts'

/** One part of the mail to the owners of an account. */
export interface NoticePart {
  readonly title: string
  readonly lines: readonly string[]
}

/** The account that a mail is about. */
export interface NoticeAccount {
  readonly accountId: number
  readonly name: string
}

/** A stored notice (note-owners.ts). */
export interface Notice {
  readonly kind: NoticeKind
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}
