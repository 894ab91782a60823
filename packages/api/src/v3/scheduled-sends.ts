import type { Operation } from './operation.ts'

export const SCHEDULED_SENDS: readonly Operation[] = []
