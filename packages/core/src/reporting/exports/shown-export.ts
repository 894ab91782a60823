import type { Secrets } from '../../platform/security/secrets.ts'
import type { ExportJob } from './export-job.ts'
import { linkToken } from './link.ts'
import type { StoredExport } from './store.ts'

/** Returns a job without its internal fields. Once it is done, it has a link to its file. */
export function shownExport(job: StoredExport, secrets: Secrets, publicUrl: string): ExportJob {
  const { id, publicId, state, format, firstDay, lastDay, kinds, createdAt, finishedAt, expiresAt, rows, problem } = job
  const url = state === 'done' ? `${publicUrl}/exports/${linkToken(secrets, id)}` : null
  const days = { firstDay, lastDay, kinds, createdAt, finishedAt, expiresAt }
  return { id: publicId, state, format, ...days, rows, problem, url }
}
