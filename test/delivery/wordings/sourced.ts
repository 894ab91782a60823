import type { BounceClass } from '../../../packages/core/src/delivery/outcomes/bounce-rules.ts'

/**
 * Replies that others quoted, with the class that they mean, and where they were read. Read on 2026-11-29; a date in `source` is that of
 * the quotation. Addresses and hosts are replaced. Where a source has a pattern, as adaptive_rules.lua and sisimai do, the reply is the
 * shortest that fits it.
 */
export interface Sourced {
  readonly source: string
  readonly replies: readonly (readonly [BounceClass, string])[]
}
