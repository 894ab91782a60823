import type { Operation } from './operation.ts'

/** How the account's mail is made, told and kept, unless a message says otherwise. */
export const ACCOUNT: readonly Operation[] = []
