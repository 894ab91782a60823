import type { Wall } from './entry.ts'

export const templates: Wall = {}
