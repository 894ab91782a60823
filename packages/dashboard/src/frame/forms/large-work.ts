import type { Principal } from '@postrider/core'

/** An operation of v2 that a visitor may use, and what it is given. */
export interface LargeWork {
  readonly principal: Principal
  /** IP address of the visitor. */
  readonly address: string
  /** `/messages/ID/resend`. */
  readonly path: string
  readonly input: object
}

/** Does something by an operation of v2, in a thread of its own, and resolves with its `data`. Throws {@link WorkRefused}. */
export type DoLargeWork = (work: LargeWork) => Promise<unknown>

/** The operation was refused, with this status and text. */
export class WorkRefused extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.name = 'WorkRefused'
    this.status = status
  }
}
