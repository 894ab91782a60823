import type { Row } from './rows.ts'

/** X-SMTPAPI over the relay. */
export const SMTPAPI_ROWS: readonly Row[] = [
  {
    ...{ id: 'smtpapi.keys', parameter: 'X-SMTPAPI: to, sub, section, category, unique_args', treatment: 'honour' },
    pending: true,
  },
  {
    ...{
      id: 'smtpapi.times',
      parameter: 'X-SMTPAPI: send_at, send_each_at, batch_id',
      treatment: 'honour',
      pending: true,
    },
  },
  {
    ...{ id: 'smtpapi.asm', parameter: 'X-SMTPAPI: asm_group_id, asm_groups_to_display', treatment: 'honour' },
    pending: true,
  },
  { id: 'smtpapi.ip_pool', parameter: 'X-SMTPAPI: ip_pool', treatment: 'ignore', pending: true },
  {
    ...{ id: 'smtpapi.invalid', parameter: 'X-SMTPAPI: invalid JSON', treatment: 'reject', pending: true },
    note: 'Accepted, then `dropped`, and the sender is told.',
  },
  {
    ...{
      id: 'smtpapi.filters',
      parameter: 'X-SMTPAPI filters: bypass_*, clicktrack, opentrack, subscriptiontrack, footer',
    },
    ...{ treatment: 'honour', note: 'ganalytics and templates (legacy) too.', pending: true },
  },
  {
    ...{ id: 'smtpapi.retired', parameter: 'X-SMTPAPI filters: bcc, spamcheck, dkim, template', treatment: 'ignore' },
    pending: true,
  },
]
