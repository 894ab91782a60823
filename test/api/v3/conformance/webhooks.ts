import type { Row } from './rows.ts'

export const WEBHOOK_ROWS: readonly Row[] = [
  {
    id: 'event-webhook',
    parameter: 'the event webhook and its signature',
    treatment: 'honour',
    note: 'Events do not have `pool` and `url_offset`. At most 100 events per request. Signed only if signing is on.',
  },
  {
    id: 'event-template',
    parameter: 'sg_template_id, sg_template_name in events',
    treatment: 'honour',
    note: 'The name of the template at the time when the message was accepted.',
  },
]
