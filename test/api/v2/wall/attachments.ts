import type { Wall } from './entry.ts'

export const attachments: Wall = {}
