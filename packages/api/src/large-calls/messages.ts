import type { Config, Principal } from '@postrider/core'

/** Data with which the thread is started. */
export interface Start {
  readonly config: Config
}

/** A call that was admitted: its key is valid, its rate limit was applied and memory for its body is reserved. */
export interface LargeCall {
  readonly principal: Principal
  readonly address: string
  /** See agent.ts. */
  readonly agent: string | null
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly octets: Uint8Array
  /** Of a call of the process itself: the thread parses the response, whose JSON may have tens of megabytes. */
  readonly wantsValue?: boolean
}

export interface LargeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  /** Empty if `value` was requested. */
  readonly octets: Uint8Array
  readonly value?: unknown
}

/** Messages to the thread. It responds to `look` immediately unless it is computing. */
export type Order =
  /** `weight`: see weigh.ts. */
  | { readonly kind: 'call'; readonly id: number; readonly call: LargeCall; readonly weight: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'close' }

/** Messages from the thread, each with the processor time it has used, in milliseconds. */
export type Report = { readonly cpu: number } & (
  | { readonly kind: 'answer'; readonly id: number; readonly answer: LargeAnswer }
  | { readonly kind: 'failed'; readonly id: number }
  | { readonly kind: 'ready' | 'seen' }
)
