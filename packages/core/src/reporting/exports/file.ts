import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Sql } from '../../platform/database/database.ts'
import type { ExportFile } from './export-job.ts'
import { type StoredExport, selectPart } from './store.ts'

/**
 * Returns the file of a job. It is read part by part, and each part, which has 4 MB when decompressed, in pieces. Reading fails if
 * the file expires meanwhile, so that a truncated file is not taken for a complete one.
 */
export function fileOf(sql: Sql, { id, format, firstDay, lastDay, parts }: StoredExport): ExportFile {
  return {
    fileName: `events-${firstDay}-${lastDay}.${format === 'csv' ? 'csv' : 'ndjson'}`,
    format,
    content: (async function* () {
      for (let number = 0; number < parts; number++) {
        const part = await selectPart(sql, id, number)
        if (!part) throw new Error(`part ${number} of export ${id} has been deleted`)
        yield* Readable.from([part]).pipe(createGunzip())
      }
    })(),
  }
}
