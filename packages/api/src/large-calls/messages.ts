import type { Config, Principal } from '@postrider/core'

/** What the thread is started with. */
export interface Start {
  readonly config: Config
}

/** A call that was let in: its key is good, its rate is kept and there is room for its body. */
export interface LargeCall {
  readonly principal: Principal
  readonly address: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly octets: Uint8Array
}

export interface LargeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly octets: Uint8Array
}

/** What the thread is told. It answers `look` at once, unless it computes. */
export type Order =
  | { readonly kind: 'call'; readonly id: number; readonly call: LargeCall }
  | { readonly kind: 'look' }
  | { readonly kind: 'close' }

/** What it says, each time with the milliseconds it has computed. */
export type Report = { readonly cpu: number } & (
  | { readonly kind: 'answer'; readonly id: number; readonly answer: LargeAnswer }
  | { readonly kind: 'failed'; readonly id: number }
  | { readonly kind: 'ready' | 'seen' }
)
