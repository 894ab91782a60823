import type { Operation } from './operation.ts'

export const SUPPRESSION_GROUPS: readonly Operation[] = []
