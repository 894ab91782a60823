// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions, FileBody } from '../call.ts'

export interface Cause {
  readonly rule: 'hard-bounce' | 'soft-bounces' | 'complaint' | 'opt-out' | 'unsubscribe'
  /** the bounce class, or the type of the complaint */
  readonly class?: string | undefined
  readonly messageId: string
}

export interface AddSuppressionInput {
  /** addresses, as a list or comma-separated */
  readonly email?: string | readonly string[] | undefined
  /** domains, as a list or comma-separated */
  readonly domain?: string | readonly string[] | undefined
  /** id of an unsubscribe group */
  readonly group?: number | undefined
  readonly reason?: 'unsubscribe' | 'hardbounce' | 'abuse' | 'manual' | undefined
}

export type AddSuppressionData = {
  /** number of new entries */
  readonly added: number
}

export interface RemoveSuppressionInput {
  /** addresses, as a list or comma-separated */
  readonly email?: string | readonly string[] | undefined
  /** domains, as a list or comma-separated */
  readonly domain?: string | readonly string[] | undefined
  /** id of an unsubscribe group */
  readonly group?: number | undefined
}

export type RemoveSuppressionData = {
  /** number of entries removed */
  readonly removed: number
}

export interface ListSuppressionsInput {
  /** addresses, as a list or comma-separated */
  readonly email?: string | readonly string[] | undefined
  /** domains, as a list or comma-separated */
  readonly domain?: string | readonly string[] | undefined
  /** id of an unsubscribe group */
  readonly group?: number | undefined
  readonly reason?: 'unsubscribe' | 'hardbounce' | 'abuse' | 'manual' | 'global' | undefined
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export type ListSuppressionsData = readonly {
  readonly email?: string | undefined
  readonly domain?: string | undefined
  readonly type: 'email' | 'domain' | 'group'
  readonly group?: number | undefined
  readonly reason: 'unsubscribe' | 'hardbounce' | 'abuse' | 'manual' | 'global'
  /** yyyy-mm-dd hh:mm:ss, UTC */
  readonly addedTime: string
  /** what made the entry; absent if it was added by a call */
  readonly cause?: Cause | undefined
}[]

export interface CheckSuppressionInput {
  readonly email: string
  /** unsubscribe group of the message */
  readonly group?: number | undefined
}

export type CheckSuppressionData = {
  readonly email: string
  readonly suppressed: boolean
  readonly heldBy: readonly {
    /** global: set by the operator for all accounts; only the operator can remove it */
    readonly scope: 'address' | 'domain' | 'group' | 'global'
    /** the listed address or domain */
    readonly value: string
    readonly group?: number | undefined
    readonly reason: 'unsubscribe' | 'hardbounce' | 'abuse' | 'manual' | 'global'
    /** yyyy-mm-dd hh:mm:ss, UTC */
    readonly since: string
    /** what made the entry; absent if it was added by a call */
    readonly cause?: Cause | undefined
  }[]
}

export interface ImportSuppressionsInput {
  /** true: reject the whole import if a row is invalid */
  readonly atomic?: boolean | undefined
  readonly body: FileBody
}

export type ImportSuppressionsData = {
  readonly rows: number
  /** number of new entries */
  readonly added: number
  /** number of entries that already existed or were repeated */
  readonly known: number
  /** number of invalid rows, which were skipped */
  readonly wrong: number
  /** the first hundred invalid rows */
  readonly problems: readonly {
    readonly line: number
    readonly problem: string
  }[]
}

export class Suppressions {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Suppress addresses and domains. Either all are added or none. Needs the scope suppressions. */
  add(input: AddSuppressionInput = {}, options?: CallOptions): Promise<AddSuppressionData> {
    return this.#call({ method: 'POST', path: '/suppression' }, input, options)
  }

  /** Remove addresses and domains from the list. Needs the scope suppressions. */
  remove(input: RemoveSuppressionInput = {}, options?: CallOptions): Promise<RemoveSuppressionData> {
    return this.#call({ method: 'DELETE', path: '/suppression' }, input, options)
  }

  /** List suppressions alphabetically, optionally filtered by address, domain or reason. Needs the scope suppressions. */
  list(input: ListSuppressionsInput = {}, options?: CallOptions): Promise<ListSuppressionsData> {
    return this.#call({ method: 'GET', path: '/suppression' }, input, options)
  }

  /** Check whether an address is suppressed, and by which entries. The first entry gives the reason of the drop. Needs the scope suppressions. */
  check(input: CheckSuppressionInput, options?: CallOptions): Promise<CheckSuppressionData> {
    return this.#call({ method: 'POST', path: '/suppression/check' }, input, options)
  }

  /**
   * Import a list of any length as CSV: with the column email or domain, and optionally reason, since, group; or as another provider exports it.
   * Needs the scope suppressions.
   */
  import(input: ImportSuppressionsInput, options?: CallOptions): Promise<ImportSuppressionsData> {
    return this.#call({ method: 'POST', path: '/suppression/import', takes: 'text/csv' }, input, options)
  }

  /** Export the whole list as CSV, in the format of an import. Needs the scope suppressions. */
  export(options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#call({ method: 'GET', path: '/suppression/export', gives: 'stream' }, {}, options)
  }
}
