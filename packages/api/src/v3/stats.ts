import type { Operation } from './operation.ts'

export const STATS: readonly Operation[] = []
