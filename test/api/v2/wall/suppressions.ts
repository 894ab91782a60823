import type { Wall } from './entry.ts'

export const suppressions: Wall = {}
