import type { Operation } from './operation.ts'

export const CATEGORIES: readonly Operation[] = []
