import type { Wall } from './entry.ts'

export const webhooks: Wall = {}
