import type { Wall } from './entry.ts'

export const privacy: Wall = {}
