import type { Operation } from './operation.ts'

export const CREDITS: readonly Operation[] = []
