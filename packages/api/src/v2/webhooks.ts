import type { Operation } from './operation.ts'

/** Where the account wants to be told of events (contract section 16). */
export const WEBHOOKS: readonly Operation[] = []
