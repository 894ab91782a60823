import type { TestService } from '../../../helpers/service.ts'

/** Somebody with a key: the owner of what is asked for, or a stranger to it. */
export interface Caller {
  readonly accountId: number
  readonly apiKey: string
  /** The active sending domain. */
  readonly domain: string
}

export type Input = Record<string, unknown>

/** Makes something of the owner's by any means. */
export interface Setting {
  readonly service: TestService
  /** Calls an operation as somebody; throws unless it answers 200. */
  readonly act: (caller: Caller, operation: string, input: Input) => Promise<unknown>
}

/**
 * How the wall between accounts is tried for an operation.
 *
 * - `object`: names one thing. A stranger who names the owner's gets what he gets for one that never was, and it is unchanged.
 * - `list`: a stranger's answer does not hold the mark of the owner's thing.
 * - `own`: changes or makes only what belongs to the caller; the owner's answer to `seen` stays as it was.
 */
export type WallEntry =
  | {
      readonly kind: 'object'
      readonly make: (setting: Setting, owner: Caller) => Promise<Input>
      readonly missing: Input
      /** The refusal is in an answer with status 200. */
      readonly refusedWithin?: true
      /** What the answers repeat of the call, and may differ in. */
      readonly repeated?: RegExp
      /** What the owner asks to see that it is unchanged: an operation and its input. */
      readonly seen: (input: Input) => readonly [operation: string, input: Input]
    }
  | {
      readonly kind: 'list'
      readonly make: (setting: Setting, owner: Caller) => Promise<string>
      readonly input?: Input
    }
  | {
      readonly kind: 'own'
      readonly make?: (setting: Setting, owner: Caller) => Promise<unknown>
      readonly input: Input
      readonly seen: readonly [operation: string, input: Input]
    }

export type Wall = Readonly<Record<string, WallEntry>>
