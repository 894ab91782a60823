import type { Row } from './rows.ts'

export const WEBHOOK_ROWS: readonly Row[] = [
  {
    id: 'event-webhook',
    parameter: 'the event webhook and its signature',
    treatment: 'honour',
    note: 'At most 100 events per request. Signed only if signing is on.',
  },
  {
    id: 'event-fields',
    parameter: 'ip of delivered, pool, url_offset in events',
    treatment: 'honour',
    note: '`ip` if a source is configured, `pool` (`name`) if the message named one; `url_offset` has `index` and no `type`.',
  },
  {
    id: 'event-template',
    parameter: 'sg_template_id, sg_template_name in events',
    treatment: 'honour',
    note: 'The name of the template at the time when the message was accepted.',
  },
]
