import type { Wall } from './entry.ts'

export const scopes: Wall = { listScopes: { kind: 'none' } }
