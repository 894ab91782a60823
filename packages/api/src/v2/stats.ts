import type { Operation } from './operation.ts'

/** Statistics by day, week and month, and of tags (contract section 13). */
export const STATS: readonly Operation[] = []
