import type { ExportFormat } from '@postrider/core'

/** Media types of export files. */
export const FILE_TYPES = { json: 'application/x-ndjson', csv: 'text/csv' } as const satisfies Record<
  ExportFormat,
  string
>
