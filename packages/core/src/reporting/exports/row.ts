import type { Event } from '../../events/event.ts'
import { csvCell } from '../../platform/csv-cell.ts'
import { defined } from '../../platform/defined.ts'
import { eventId, type V2Value, v2Body } from '../formats/v2/webhook-body.ts'
import type { ExportFormat } from './export-job.ts'

/** An event in the format of webhooks (v2 contract 16.3), with its sequence number. */
type Row = Readonly<Record<string, V2Value>>

const COLUMNS = [
  'TRANSID',
  'EMAIL',
  'FROMADDRESS',
  'EVENT',
  'TIMESTAMP',
  'RESPONSE',
  'X-APIHEADER',
  'TAGS',
  'MSIZE',
  'USERAGENT',
  'IPADDRESS',
  'URL',
  'BOUNCE_TYPE',
  'BOUNCE_REASON',
  'BOUNCE_REASONID',
  'EVENTID',
  'MACHINE',
  'NUMBER',
  'METADATA',
] as const

const SHAPE = { asText: false, abuse: false, eventIds: true, machines: true }

/** Returns an event as JSON text. TRANSID exceeds 2^53, so it is inserted as text rather than as a number. */
function objectOf(event: Event): string {
  const body = v2Body([event], SHAPE).slice(1, -1)
  return `${(body || unreported(event)).slice(0, -1)},"NUMBER":${event.number}}`
}

/** Returns events that webhooks in this format do not report, in the same format; also events whose message is no longer stored. */
function unreported({ id, type, detail, occurredAt, delivery }: Event): string {
  const row: Row = {
    RESPONSE: detail.reply ?? '',
    EMAIL: delivery?.recipient ?? '',
    TIMESTAMP: Math.floor(occurredAt.getTime() / 1000),
    FROMADDRESS: delivery?.from ?? '',
    EVENT: type,
    MSIZE: delivery?.size ?? 0,
    'X-APIHEADER': delivery?.reference ?? '',
    TAGS: delivery?.tags.join(',') ?? '',
    ...defined({ URL: detail.url }),
    EVENTID: eventId(id),
    ...defined({ METADATA: delivery?.customArgs ?? undefined }),
  }
  return `{"TRANSID":${delivery?.transactionNumber ?? 0},${JSON.stringify(row).slice(1)}`
}

/** Returns the text before the rows. */
export function headOf(format: ExportFormat): string {
  return format === 'csv' ? `${COLUMNS.map(csvCell).join(',')}\r\n` : ''
}

/** Returns an event as one line with its line end. */
export function lineOf(format: ExportFormat, event: Event): string {
  const text = objectOf(event)
  if (format === 'json') return `${text}\n`
  const row = { ...(JSON.parse(text) as Row), TRANSID: event.delivery?.transactionNumber ?? '0' }
  return `${COLUMNS.map((column) => csvCell(cellOf((row as Row)[column]))).join(',')}\r\n`
}

function cellOf(value: V2Value | undefined): string | number {
  return typeof value === 'object' ? JSON.stringify(value) : (value ?? '')
}
