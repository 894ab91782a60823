// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface ListAuditInput {
  /** entries after this number */
  readonly after?: number | undefined
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
}

export type ListAuditData = readonly {
  readonly number: number
  readonly at: string
  /** null if the operator (command line) or the service made the change */
  readonly keyId: number | null
  readonly ip: string | null
  /** the program through which an agent made the change, as it named itself; null: no agent */
  readonly agent: string | null
  readonly action: string
  readonly object: string
  readonly before: unknown
  readonly after: unknown
  /** SHA-256 of this entry and the previous hash, in hexadecimal */
  readonly hash: string
}[]

export class Audit {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** List changes of the account's objects, oldest first. Needs the scope audit. */
  list(input: ListAuditInput = {}, options?: CallOptions): Promise<ListAuditData> {
    return this.#call({ method: 'GET', path: '/audit' }, input, options)
  }
}
