import type { Operation } from './operation.ts'

export const ACCOUNT_SETTINGS: readonly Operation[] = []
