import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { ExportFile } from './export-job.ts'
import { fileOf } from './file.ts'
import { jobOfToken } from './link.ts'
import { requireExport } from './require-export.ts'
import { selectFinished } from './store.ts'

export async function findFile(sql: Sql, accountId: number, id: string): Promise<ExportFile> {
  const job = await requireExport(sql, accountId, id)
  if (job.state !== 'done') throw new ServiceError('exportUnknown', { reason: 'export not finished' })
  return fileOf(sql, job)
}

export async function findFileOfLink(
  { sql, secrets }: { readonly sql: Sql; readonly secrets: Secrets },
  token: string,
): Promise<ExportFile | undefined> {
  const id = jobOfToken(secrets, token)
  const job = id === undefined ? undefined : await selectFinished(sql, id)
  return job && fileOf(sql, job)
}
