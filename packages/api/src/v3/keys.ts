import type { Operation } from './operation.ts'

export const KEYS: readonly Operation[] = []
