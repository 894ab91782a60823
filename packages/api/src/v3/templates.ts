import type { Operation } from './operation.ts'

export const TEMPLATES: readonly Operation[] = []
