import type { Wall } from './entry.ts'

export const events: Wall = {}
