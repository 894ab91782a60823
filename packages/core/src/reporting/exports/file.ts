import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Sql } from '../../platform/database/database.ts'
import type { ExportFile } from './export-job.ts'
import { type StoredExport, selectPart } from './store.ts'

/** The job's file, a part at a time and each in pieces, since it is 4 MB when it is unpacked. Its reading fails when the file expires meanwhile: half a file must not look whole. */
export function fileOf(sql: Sql, { id, format, firstDay, lastDay, parts }: StoredExport): ExportFile {
  return {
    fileName: `events-${firstDay}-${lastDay}.${format === 'csv' ? 'csv' : 'ndjson'}`,
    format,
    content: (async function* () {
      for (let number = 0; number < parts; number++) {
        const part = await selectPart(sql, id, number)
        if (!part) throw new Error(`part ${number} of the export ${id} is gone`)
        yield* Readable.from([part]).pipe(createGunzip())
      }
    })(),
  }
}
