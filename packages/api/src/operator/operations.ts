import { ACCOUNTS } from './accounts.ts'
import { CLOCK } from './clock.ts'
import { DELETIONS } from './deletions.ts'
import { JOBS } from './jobs.ts'
import type { Operation } from './operation.ts'
import { QUEUES } from './queues.ts'

/** All operations of the operator's interface. */
export const OPERATIONS: readonly Operation[] = [...QUEUES, ...JOBS, ...ACCOUNTS, ...DELETIONS, ...CLOCK]
