import type { Operation } from './operation.ts'

export const WEBHOOKS: readonly Operation[] = []
