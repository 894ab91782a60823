import type { Wall } from './entry.ts'

export const credits: Wall = {}
