import type { Operation } from './operation.ts'

export const ATTACHMENTS: readonly Operation[] = []
