import type { Operation } from './operation.ts'

export const PRIVACY: readonly Operation[] = []
