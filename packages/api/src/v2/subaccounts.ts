import type { Operation } from './operation.ts'

export const SUBACCOUNTS: readonly Operation[] = []
