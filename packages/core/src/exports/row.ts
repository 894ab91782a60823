import type { Event } from '../events/index.ts'
import type { ExportFormat } from './export-job.ts'
import { kindOf } from './kinds.ts'

/** One event as a webhook tells it (contract 16.3), with the number it has in the account's sequence. */
type Row = Readonly<Record<string, string | number>>

const COLUMNS = [
  ...(['TRANSID', 'EMAIL', 'FROMADDRESS', 'EVENT', 'TIMESTAMP', 'RESPONSE', 'X-APIHEADER', 'TAGS', 'MSIZE'] as const),
  ...(['USERAGENT', 'IPADDRESS', 'URL', 'BOUNCE_TYPE', 'BOUNCE_REASON', 'NUMBER'] as const),
] as const

function rowOf(event: Event): Row {
  const { number, occurredAt, detail, delivery } = event
  const kind = kindOf(event)
  const bounced = kind === 'hardbounce' || kind === 'softbounce'
  return {
    EMAIL: delivery?.recipient ?? '',
    FROMADDRESS: delivery?.from ?? '',
    EVENT: bounced ? 'bounced' : String(kind),
    TIMESTAMP: Math.floor(occurredAt.getTime() / 1000),
    RESPONSE: responseOf(event),
    'X-APIHEADER': delivery?.reference ?? '',
    TAGS: delivery?.tags.join(',') ?? '',
    MSIZE: delivery?.size ?? 0,
    ...(detail.userAgent === undefined ? {} : { USERAGENT: detail.userAgent }),
    ...(detail.ip === undefined ? {} : { IPADDRESS: detail.ip }),
    ...(detail.url === undefined ? {} : { URL: detail.url }),
    ...(bounced ? { BOUNCE_TYPE: kind.toUpperCase(), BOUNCE_REASON: detail.reply ?? '' } : {}),
    NUMBER: number,
  }
}

function responseOf({ type, detail }: Event): string {
  if (type === 'dropped') return `Email dropped: ${DROPPED[detail.reason ?? ''] ?? detail.reason ?? ''}`
  if (type === 'invalid') return 'Invalid email address'
  return detail.reply ?? ''
}

/** Contract 16.4. */
const DROPPED: Readonly<Record<string, string>> = {
  unsubscribe: 'User suppressed due to unsubscription',
  hardbounce: 'User suppressed due to hard bounce',
  abuse: 'User suppressed due to abuse complaint',
  manual: 'added to suppression list manually',
  global: 'present in global blacklisting',
}

/** What stands before the rows. */
export function headOf(format: ExportFormat): string {
  return format === 'csv' ? `${COLUMNS.map(cellOf).join(',')}\r\n` : ''
}

/** One line, its end included. */
export function lineOf(format: ExportFormat, event: Event): string {
  const row = rowOf(event)
  const transaction = event.delivery?.transactionNumber ?? '0'
  // Beyond 2^53, where doubles stay exact for multiples of 4 only: the digits go into the text as they are.
  if (format === 'json') return `{"TRANSID":${transaction},${JSON.stringify(row).slice(1)}\n`
  return `${COLUMNS.map((column) => cellOf(column === 'TRANSID' ? transaction : (row[column] ?? ''))).join(',')}\r\n`
}

/** A spreadsheet takes a cell that begins like this for a formula, and a subject, a tag or a reply may. */
const FORMULA = /^[=+\-@'\t\r\n]/

/** RFC 4180. */
function cellOf(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
