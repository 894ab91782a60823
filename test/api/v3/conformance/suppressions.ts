import type { Row } from './rows.ts'

/** Suppression groups and suppression lists. */
export const SUPPRESSION_ROWS: readonly Row[] = [
  {
    id: 'asm.recipient_emails',
    parameter: 'asm recipient_emails',
    treatment: 'honour',
    note: 'Up to 10,000 at a time, echoed as they came, stored once. Not an array, or an address that is none: 400, and nothing is added.',
  },
  {
    id: 'asm.unknown-group',
    parameter: 'group suppressions to an unknown group id',
    treatment: 'honour',
    note: 'They go to the global list, 201 with `"global": true`. An id that is no number: 404.',
  },
]
