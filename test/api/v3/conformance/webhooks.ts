import type { Row } from './rows.ts'

export const WEBHOOK_ROWS: readonly Row[] = [
  {
    id: 'event-webhook',
    parameter: 'the event webhook and its signature',
    treatment: 'honour',
    note: 'Without `pool` and `url_offset`. At most 100 events a request; signed only when that is set.',
  },
  {
    id: 'event-template',
    parameter: 'sg_template_id, sg_template_name in events',
    treatment: 'honour',
    note: 'The name is that of the template when the mail was accepted.',
  },
]
