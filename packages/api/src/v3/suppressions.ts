import type { Operation } from './operation.ts'

export const SUPPRESSIONS: readonly Operation[] = []
