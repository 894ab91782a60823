import type { ExportFormat } from '@postrider/core'

/** The media type of an export's file. */
export const FILE_TYPES = { json: 'application/x-ndjson', csv: 'text/csv' } as const satisfies Record<
  ExportFormat,
  string
>
