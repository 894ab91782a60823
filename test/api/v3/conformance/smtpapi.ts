import type { Row } from './rows.ts'

/** X-SMTPAPI over the relay. */
export const SMTPAPI_ROWS: readonly Row[] = [
  {
    id: 'smtpapi.keys',
    parameter: 'X-SMTPAPI: to, sub, section, category, unique_args',
    treatment: 'honour',
    note: 'Events have categories as a list, also if a single string was given.',
  },
  {
    id: 'smtpapi.times',
    parameter: 'X-SMTPAPI: send_at, send_each_at, batch_id',
    treatment: 'honour',
    note: 'An unknown batch is treated like invalid JSON.',
  },
  {
    id: 'smtpapi.asm',
    parameter: 'X-SMTPAPI: asm_group_id, asm_groups_to_display',
    treatment: 'honour',
    note: 'An unknown group is treated like invalid JSON. The links of the group are added as with asm.group_id.',
  },
  { id: 'smtpapi.ip_pool', parameter: 'X-SMTPAPI: ip_pool', treatment: 'honour' },
  {
    id: 'smtpapi.invalid',
    parameter: 'X-SMTPAPI: invalid JSON',
    treatment: 'reject',
    note: 'The message is accepted, then `dropped`, and the sender is notified. Also for values of an invalid type.',
  },
  {
    id: 'smtpapi.filters',
    parameter: 'X-SMTPAPI filters: bypass_*, clicktrack, opentrack, subscriptiontrack, footer',
    treatment: 'honour',
    note: 'Also ganalytics and templates (legacy).',
  },
  { id: 'smtpapi.retired', parameter: 'X-SMTPAPI filters: bcc, spamcheck, dkim, template', treatment: 'ignore' },
]
