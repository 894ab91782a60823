import type { AssetName, Html } from '@postrider/ui'
import type { Undo } from './forms/undo.ts'

/** A page within the frame. */
export interface PageAnswer {
  readonly kind: 'page'
  readonly title: string
  /** A shorter title for the end of the way to the page. */
  readonly crumb?: string
  /** The way to the page, without its own title: texts and the paths of their pages. */
  readonly crumbs?: readonly (readonly [text: string, path: string])[]
  readonly body: Html
  readonly status?: number
  /** Scripts that this page needs besides those of every page. */
  readonly scripts?: readonly AssetName[]
  /** Whether the page follows what happens: with each event of the account (events), every four seconds (clock), or both. */
  readonly live?: 'events' | 'clock' | 'both'
}

/** A page without the frame, for visitors who are not logged in. */
export interface GateAnswer {
  readonly kind: 'gate'
  readonly title: string
  readonly body: Html
  readonly status?: number
  readonly wide?: boolean
  readonly scripts?: readonly AssetName[]
}

export interface RedirectAnswer {
  readonly kind: 'redirect'
  /** A path of the dashboard, or of an OpenID provider. */
  readonly to: string
  /** Name of the sentence in the catalogue (frame/said.ts) that the next page says once. */
  readonly said?: string
  /** The form that the next page offers for ten seconds. */
  readonly undo?: Undo
  /** Value for this browser to keep until the log-in that it begins is over; see attempt-cookie.ts. */
  readonly begun?: string
}

/** Any other response: a download, an image, the HTML of a message. */
export interface FileAnswer {
  readonly kind: 'file'
  readonly type: string
  readonly body: Buffer | string | NodeJS.ReadableStream
  readonly headers?: Readonly<Record<string, string>>
  /** As in RedirectAnswer. */
  readonly begun?: string
}

/** A log-in or log-out: the session to set or to clear, and where to go. */
export interface SessionAnswer {
  readonly kind: 'session'
  /** If null, the visitor logs out. */
  readonly token: string | null
  readonly to: string
}

/** Sets the cookies of the language, the appearance and the time zone; undefined leaves one as it is. */
export interface PreferencesAnswer {
  readonly kind: 'preferences'
  readonly to: string
  readonly language: string | undefined
  /** "auto": as the system. */
  readonly theme: string | undefined
  /** "account": that of the account. */
  readonly zone: string | undefined
}

export type Answer = PageAnswer | GateAnswer | RedirectAnswer | FileAnswer | SessionAnswer | PreferencesAnswer

export const page = (answer: Omit<PageAnswer, 'kind'>): PageAnswer => ({ kind: 'page', ...answer })
export const gate = (answer: Omit<GateAnswer, 'kind'>): GateAnswer => ({ kind: 'gate', ...answer })
export const file = (answer: Omit<FileAnswer, 'kind'>): FileAnswer => ({ kind: 'file', ...answer })
export const session = (token: string | null, to: string): SessionAnswer => ({ kind: 'session', token, to })
export const redirect = (to: string, said?: string): RedirectAnswer =>
  said === undefined ? { kind: 'redirect', to } : { kind: 'redirect', to, said }

/** A live page fetches its own URL again, and the URL of a form has no page. */
export function stillAfterForm({ live, ...answer }: PageAnswer, method: string): PageAnswer {
  return live === undefined || method === 'POST' ? answer : { ...answer, live }
}
