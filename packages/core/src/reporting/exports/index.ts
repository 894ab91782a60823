import type { Actor } from '../../accounts/audit/index.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Reads } from '../../platform/database/reads.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { createExport } from './create-export.ts'
import type { ExportFile, ExportJob, ExportSpan, NewExport } from './export-job.ts'
import { findFile, findFileOfLink } from './find-file.ts'
import { listExports } from './list-exports.ts'
import type { NoticeDependencies } from './notice.ts'
import { createNotifier, type Notification } from './notifier.ts'
import { removeExport } from './remove-export.ts'
import { requireExport } from './require-export.ts'
import { shownExport } from './shown-export.ts'
import { deleteExpired, type StoredExport } from './store.ts'
import { streamEvents } from './stream-events.ts'
import { workSome } from './work.ts'

export type { ExportFile, ExportFormat, ExportJob, ExportSpan, ExportState, NewExport } from './export-job.ts'

/** Exports of an account's events (v2 contract section 14). */
export interface Exports {
  /**
   * Requests an export, which a delivery worker then performs. A callback URL is probed first. Only users may
   * request one without callback and email.
   *
   * Throws exportTargetMissing, parameterMissing (startdate), parameterInvalid (events), exportDateInvalid, exportDatesReversed,
   * exportEmailInvalid, exportUnreachable or exportNotCreated. With an email, also throws the errors of sending mail to it with
   * this key, such as scopeMissing and keyRestricted.
   */
  create(accountId: number, wanted: NewExport, by: Actor): Promise<ExportJob>
  /** Returns a job. Throws exportUnknown. */
  show(accountId: number, id: string): Promise<ExportJob>
  /** Returns jobs, the latest first; with `before`, only those requested before that job. Throws exportUnknown. */
  list(accountId: number, page: { limit: number; before?: string | undefined }): Promise<ExportJob[]>
  /** Deletes a queued job. Throws exportUnknown or exportNotQueued. */
  remove(accountId: number, id: string, by: Actor): Promise<void>
  /** Returns the file of a job. Throws exportUnknown, also if the job is not done. */
  file(accountId: number, id: string): Promise<ExportFile>
  /** Returns the file of a link; undefined if the link is invalid or has expired. */
  fileOfLink(token: string): Promise<ExportFile | undefined>
  /**
   * Returns the same events immediately, as NDJSON; without `reads`, all up to now. Throws the errors of `create` about dates and events.
   */
  stream(accountId: number, question: ExportSpan, reads?: Reads): Promise<AsyncIterable<string>>
  /** See work.ts. For delivery workers. */
  workSome(): Promise<boolean>
  /** Claims the next notification; see notifier.ts. For delivery workers. */
  nextTelling(): Promise<Notification | undefined>
  /** Deletes expired jobs and their files and returns their number. */
  forgetOld(): Promise<number>
}

export interface ExportsDependencies extends NoticeDependencies {
  readonly secrets: Secrets
  readonly config: Pick<Config, 'publicUrl' | 'exportStorage'>
  readonly http: OutboundHttp
  /** Returns reads of a call that may be some seconds old. */
  readonly oldReads: () => Reads
  /** Those of the primary. */
  readonly reads: Reads
}

export function createExports({
  sql,
  reads: current,
  oldReads,
  secrets,
  config,
  messages,
  principalOf,
  http,
}: ExportsDependencies): Exports {
  const shown = (job: StoredExport): ExportJob => shownExport(job, secrets, config.publicUrl)

  return {
    create: async (accountId, wanted, by) =>
      shown(await createExport({ sql, messages, principalOf, http }, { accountId, wanted, by })),
    show: async (accountId, id) => shown(await requireExport(sql, accountId, id)),
    list: async (accountId, page) => (await listExports(sql, accountId, page)).map(shown),
    remove: (accountId, id, by) => removeExport(sql, { accountId, id, by }),
    file: (accountId, id) => findFile(sql, accountId, id),
    fileOfLink: (token) => findFileOfLink({ sql, secrets }, token),
    stream: (accountId, question, reads = current) => streamEvents({ sql, reads }, accountId, question),
    workSome: () => workSome({ sql, reads: oldReads(), storage: config.exportStorage }),
    nextTelling: createNotifier({ sql, messages, principalOf, http, shown }),
    forgetOld: () => deleteExpired(sql, 20),
  }
}
