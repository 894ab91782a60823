import type { Actor, Config, Core, Log, Reads } from '@postrider/core'
import type { Format, Html, IconName, Language, Tone } from '@postrider/ui'
import type { FastifyRequest } from 'fastify'
import type { DoLargeWork } from './forms/large-work.ts'
import type { Right } from './right.ts'
import type { VisitedAccount, Visitor } from './visitor.ts'

/** Fields of a submitted form. A field that was sent twice is a list. */
export type Form = Readonly<Record<string, string | readonly string[] | undefined>>

/** The input of every page. */
export interface Call {
  readonly core: Core
  /** Of pages that may be some seconds old; undefined for all others, and for what follows a change of the visitor. */
  readonly reads: Reads | undefined
  readonly config: Config
  readonly log: Log
  readonly doLargeWork: DoLargeWork
  readonly request: FastifyRequest
  /** Resolves when the response has been written. A client that reads too slowly is cut off. */
  readonly written: () => Promise<void>
  /** IP address of the client. */
  readonly address: string
  readonly language: Language
  readonly format: Format
  readonly icon: (name: IconName, tone?: Tone) => Html
  /** The database's time. */
  readonly now: Date
  readonly params: Readonly<Record<string, string>>
  readonly query: Form
  readonly form: Form
  /** The person who asks; undefined without a session. */
  readonly visitor?: Visitor | undefined
  /** The session's token, which a log-in makes invalid. */
  readonly token?: string | undefined
  /** Value that the browser kept of the log-in that it began; empty without one. */
  readonly begun: string
}

/** The input of a page for a visitor. */
export interface UserCall extends Call {
  readonly visitor: Visitor
}

/** The input of a page of an account. */
export interface AccountCall extends UserCall {
  readonly account: VisitedAccount
  /** The visitor, for the audit log and for what the visitor's role may do. */
  readonly by: Actor
  /** Whether the visitor's role has the right. */
  may(right: Right): boolean
  /** Returns the path of another page of this account: `path('messages')` is /app/2/messages. */
  path(below?: string): string
}

/** Returns a password of the form as it was typed: it may begin or end with a space. */
export function passwordField(form: Form, name = 'password'): string {
  const value = form[name]
  return typeof value === 'string' ? value : ''
}

/** Returns the first value of a field, trimmed; empty if it was not sent. */
export function field(form: Form, name: string): string {
  const value = form[name]
  const text = typeof value === 'string' ? value : (value?.[0] ?? '')
  // Texts in the database never contain NUL.
  return text.replaceAll('\0', '\ufffd').trim()
}

/** Returns all values of a field. */
export function fields(form: Form, name: string): readonly string[] {
  const value = form[name]
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}
