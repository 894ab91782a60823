import type { Wall } from './entry.ts'

export const account: Wall = {}
