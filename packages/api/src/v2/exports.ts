import type { Operation } from './operation.ts'

/** Dumps of event data (contract section 14). */
export const EXPORTS: readonly Operation[] = []
