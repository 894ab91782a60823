import type { Row } from './rows.ts'

/** X-SMTPAPI over the relay. */
export const SMTPAPI_ROWS: readonly Row[] = [
  {
    id: 'smtpapi.keys',
    parameter: 'X-SMTPAPI: to, sub, section, category, unique_args',
    treatment: 'honour',
    note: 'Events name categories as a list, also where one was given as text.',
  },
  {
    id: 'smtpapi.times',
    parameter: 'X-SMTPAPI: send_at, send_each_at, batch_id',
    treatment: 'honour',
    note: 'A batch that is not there is as invalid JSON.',
  },
  {
    id: 'smtpapi.asm',
    parameter: 'X-SMTPAPI: asm_group_id, asm_groups_to_display',
    treatment: 'honour',
    note: 'A group that is not there is as invalid JSON. The group’s links are added as with asm.group_id.',
  },
  { id: 'smtpapi.ip_pool', parameter: 'X-SMTPAPI: ip_pool', treatment: 'ignore' },
  {
    id: 'smtpapi.invalid',
    parameter: 'X-SMTPAPI: invalid JSON',
    treatment: 'reject',
    note: 'Accepted, then `dropped`, and the sender is told. Wrong types too.',
  },
  {
    id: 'smtpapi.filters',
    parameter: 'X-SMTPAPI filters: bypass_*, clicktrack, opentrack, subscriptiontrack, footer',
    treatment: 'honour',
    note: 'ganalytics and templates (legacy) too.',
  },
  { id: 'smtpapi.retired', parameter: 'X-SMTPAPI filters: bcc, spamcheck, dkim, template', treatment: 'ignore' },
]
