import type { Row } from './rows.ts'

export const SUPPRESSION_ROWS: readonly Row[] = [
  {
    ...{ id: 'asm.recipient_emails', parameter: 'asm recipient_emails', treatment: 'honour', pending: true },
    note: 'Echoed as sent; not a list, or an invalid address: 400.',
  },
  {
    ...{
      id: 'asm.unknown-group',
      parameter: 'group suppressions of an unknown group',
      treatment: 'honour',
      pending: true,
    },
    note: 'They go to the global list, answered with `"global":true`; an id that is no number: 404.',
  },
]
