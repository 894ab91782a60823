import type { Wall } from './entry.ts'

export const stats: Wall = {}
