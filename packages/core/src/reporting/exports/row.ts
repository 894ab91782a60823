import type { Event } from '../../events/event.ts'
import { csvCell } from '../../platform/csv-cell.ts'
import { eventId, v2Body } from '../webhooks/v2-shape.ts'
import type { ExportFormat } from './export-job.ts'

/** An event as a webhook tells it (v2 contract 16.3), and its number in the account's sequence. */
type Row = Readonly<Record<string, string | number>>

const COLUMNS = [
  ...(['TRANSID', 'EMAIL', 'FROMADDRESS', 'EVENT', 'TIMESTAMP', 'RESPONSE', 'X-APIHEADER', 'TAGS', 'MSIZE'] as const),
  ...(['USERAGENT', 'IPADDRESS', 'URL', 'BOUNCE_TYPE', 'BOUNCE_REASON', 'BOUNCE_REASONID', 'EVENTID'] as const),
  ...(['MACHINE', 'NUMBER'] as const),
] as const

const SHAPE = { asText: false, abuse: false, eventIds: true, machines: true }

/** JSON text: TRANSID is beyond 2^53, so its digits go into the text as they are. */
function objectOf(event: Event): string {
  const told = v2Body([event], SHAPE).slice(1, -1)
  return `${(told || untold(event)).slice(0, -1)},"NUMBER":${event.number}}`
}

/** What webhooks in this shape are silent about, in the same shape; also what is left when the message is no longer kept. */
function untold({ id, type, detail, occurredAt, delivery }: Event): string {
  const row: Row = {
    RESPONSE: detail.reply ?? '',
    EMAIL: delivery?.recipient ?? '',
    TIMESTAMP: Math.floor(occurredAt.getTime() / 1000),
    FROMADDRESS: delivery?.from ?? '',
    EVENT: type,
    MSIZE: delivery?.size ?? 0,
    'X-APIHEADER': delivery?.reference ?? '',
    TAGS: delivery?.tags.join(',') ?? '',
    ...(detail.url === undefined ? {} : { URL: detail.url }),
    EVENTID: eventId(id),
  }
  return `{"TRANSID":${delivery?.transactionNumber ?? 0},${JSON.stringify(row).slice(1)}`
}

/** What stands before the rows. */
export function headOf(format: ExportFormat): string {
  return format === 'csv' ? `${COLUMNS.map(csvCell).join(',')}\r\n` : ''
}

/** One line, its end included. */
export function lineOf(format: ExportFormat, event: Event): string {
  const text = objectOf(event)
  if (format === 'json') return `${text}\n`
  const row = { ...(JSON.parse(text) as Row), TRANSID: event.delivery?.transactionNumber ?? '0' }
  return `${COLUMNS.map((column) => csvCell((row as Row)[column] ?? '')).join(',')}\r\n`
}
