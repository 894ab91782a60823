import type { Link } from './html-parts.ts'

/** How a recipient leaves (RFC 2369, RFC 8058). */
export interface UnsubscribeField {
  readonly header: string
  readonly post: string
  /** The first web address of the field; undefined if it has none. */
  readonly url: string | undefined
}

export interface MessageLinks {
  readonly links: readonly Link[]
  /** Undefined if the message has no List-Unsubscribe. */
  readonly unsubscribe: UnsubscribeField | undefined
}

/** A link with what was found out about it. */
export interface JudgedLink extends Link {
  /** Where it leads: of a tracked link of this service, the address that is sealed in it. */
  readonly target: string
  readonly isTracked: boolean
  /** Undefined if it was not requested. */
  readonly status: LinkStatus | undefined
}

/** The answer to a request of a link: a status of HTTP with its name, or 0 and the reason why there was none. */
export interface LinkStatus {
  readonly code: number
  readonly text: string
}
