import type { Row } from './rows.ts'

/** Suppression groups and suppression lists. */
export const SUPPRESSION_ROWS: readonly Row[] = [
  {
    id: 'asm.recipient_emails',
    parameter: 'asm recipient_emails',
    treatment: 'honour',
    note: 'At most 10,000 per call, echoed unchanged, each stored once. A value that is not an array, or an invalid address: 400, and nothing is added.',
  },
  {
    id: 'asm.unknown-group',
    parameter: 'group suppressions to an unknown group id',
    treatment: 'honour',
    note: 'Added to the global list; 201 with `"global": true`. An id that is not a number: 404.',
  },
]
