import type { Wall } from './entry.ts'

export const keys: Wall = {}
