import type { Wall } from './entry.ts'

export const exports: Wall = {}
