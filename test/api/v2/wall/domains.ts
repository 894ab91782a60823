import type { Wall } from './entry.ts'

export const domains: Wall = {}
