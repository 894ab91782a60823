import type { Operation } from './operation.ts'

/** The event log and the gap-free feed (contract section 12). */
export const EVENTS: readonly Operation[] = []
