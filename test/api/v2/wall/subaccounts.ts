import type { Wall } from './entry.ts'

export const subaccounts: Wall = {}
