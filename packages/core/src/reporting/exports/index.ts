import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { parseAddress } from '../../mime/address.ts'
import type { Config } from '../../platform/config.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/outbound-http.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { requireReachable } from './callback.ts'
import { spanOf } from './days.ts'
import type { ExportFile, ExportJob, ExportSpan, NewExport } from './export-job.ts'
import { fileOf } from './file.ts'
import { parseKinds } from './kinds.ts'
import { jobOfToken, linkToken } from './link.ts'
import { type NoticeDependencies, noticeSender, rehearseNotice } from './notice.ts'
import { createNotifier, type Notification } from './notifier.ts'
import { rangeOf, readRun } from './read-span.ts'
import { headOf, lineOf } from './row.ts'
import {
  countJobs,
  deleteExpired,
  deleteQueued,
  insertJob,
  type StoredExport,
  selectFinished,
  selectJob,
  selectJobs,
} from './store.ts'
import { workSome } from './work.ts'

export type { ExportFile, ExportFormat, ExportJob, ExportSpan, ExportState, NewExport } from './export-job.ts'

/** Maximum number of queued and running jobs per account, and of all jobs. */
const MAX_OPEN = 5
const MAX_JOBS = 100

/** Exports of an account's events (v2 contract section 14). */
export interface Exports {
  /**
   * Requests an export, which a delivery worker then performs. A callback URL is probed first.
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
  /** Returns the same events immediately, as NDJSON. Throws the errors of `create` about dates and events. */
  stream(accountId: number, question: ExportSpan): Promise<AsyncIterable<string>>
  /** See work.ts. For delivery workers. */
  workSome(): Promise<boolean>
  /** Claims the next notification; see tell.ts. For delivery workers. */
  nextTelling(): Promise<Notification | undefined>
  /** Deletes expired jobs and their files and returns their number. */
  forgetOld(): Promise<number>
}

export interface ExportsDependencies extends NoticeDependencies {
  readonly secrets: Secrets
  readonly config: Pick<Config, 'publicUrl' | 'exportStorage'>
  readonly http: OutboundHttp
}

export function createExports({ sql, secrets, config, messages, principalOf, http }: ExportsDependencies): Exports {
  const shown = (job: StoredExport): ExportJob => {
    const { id, state, format, firstDay, lastDay, kinds, createdAt, finishedAt, expiresAt, rows, problem } = job
    const url = state === 'done' ? `${config.publicUrl}/exports/${linkToken(secrets, id)}` : null
    const days = { firstDay, lastDay, kinds, createdAt, finishedAt, expiresAt }
    return { id: job.publicId, state, format, ...days, rows, problem, url }
  }
  const find = async (accountId: number, id: string): Promise<StoredExport> => {
    const job = await selectJob(sql, accountId, uuidOf(id))
    if (!job) throw new ServiceError('exportUnknown')
    return job
  }

  return {
    async create(accountId, wanted, by) {
      const { format, callbackUrl, startDate, endDate, events } = wanted
      if (callbackUrl === undefined && wanted.email === undefined) throw new ServiceError('exportTargetMissing')
      const span = await spanOf(sql, accountId, startDate, endDate)
      const kinds = parseKinds(events)
      const email = wanted.email === undefined ? null : await recipientOf(accountId, wanted.email, by)
      // Before the URL is probed, so that clients cannot trigger an unlimited number of probes.
      requireCapacity(await countJobs(sql, accountId))
      if (callbackUrl !== undefined) await requireReachable(http, callbackUrl)
      const row = {
        ...{ accountId, format, kinds, ...span, callbackUrl: callbackUrl ?? null, email },
        ...{ apiKeyId: by.keyId, clientAddress: by.address },
      }
      return sql.begin(async (transaction) => {
        const job = await insertJob(transaction, row)
        const after = { startdate: span.firstDay, enddate: span.lastDay, format, events: kinds }
        const target = { callback: callbackUrl !== undefined, email: email !== null }
        const object = `export ${job.publicId}`
        await noteChange(transaction, {
          accountId,
          by,
          action: 'export.create',
          object,
          after: { ...after, ...target },
        })
        // After the audit entry, which serializes the changes of an account, so that the count is exact.
        const { kept, open } = await countJobs(transaction, accountId)
        requireCapacity({ kept: kept - 1, open: open - 1 })
        return shown(job)
      }) as Promise<ExportJob>
    },

    show: async (accountId, id) => shown(await find(accountId, id)),

    async list(accountId, { limit, before }) {
      const last = before === undefined ? undefined : await find(accountId, before)
      return (await selectJobs(sql, accountId, { limit, before: last?.id })).map(shown)
    },

    async remove(accountId, id, by) {
      const { id: number } = await find(accountId, id)
      await sql.begin(async (transaction) => {
        if (!(await deleteQueued(transaction, accountId, number))) throw new ServiceError('exportNotQueued')
        await noteChange(transaction, { accountId, by, action: 'export.delete', object: `export ${id}` })
      })
    },

    async file(accountId, id) {
      const job = await find(accountId, id)
      if (job.state !== 'done') throw new ServiceError('exportUnknown', { reason: 'export not finished' })
      return fileOf(sql, job)
    },

    async fileOfLink(token) {
      const id = jobOfToken(secrets, token)
      const job = id === undefined ? undefined : await selectFinished(sql, id)
      return job && fileOf(sql, job)
    },

    async stream(accountId, { startDate, endDate, events }) {
      const { beginsAt, endsAt } = await spanOf(sql, accountId, startDate, endDate)
      const question = { accountId, kinds: parseKinds(events), beginsAt, endsAt }
      const range = await rangeOf(sql, question)
      return (async function* () {
        yield headOf('json')
        for (let { position } = range; position < range.last; ) {
          const run = await readRun(sql, question, { position, last: range.last })
          yield run.events.map((event) => lineOf('json', event)).join('')
          position = run.position
        }
      })()
    },

    workSome: () => workSome({ sql, storage: config.exportStorage }),
    nextTelling: createNotifier({ sql, messages, principalOf, http, shown }),
    forgetOld: () => deleteExpired(sql, 20),
  }

  /** Returns the canonical address. Throws exportEmailInvalid, exportNotCreated and the errors of sending mail to it. */
  async function recipientOf(accountId: number, email: string, { keyId }: Actor): Promise<string> {
    const address = parseAddress(email)
    if (!address) throw new ServiceError('exportEmailInvalid')
    const from = await noticeSender(sql, accountId)
    if (!from) throw notCreated('the account has no active sending domain to send the notification from')
    await rehearseNotice({ sql, messages, principalOf }, { accountId, apiKeyId: keyId, from, to: address.text })
    return address.text
  }
}

function requireCapacity({ kept, open }: { kept: number; open: number }): void {
  if (open >= MAX_OPEN)
    throw notCreated(`${MAX_OPEN} exports are already queued or running; retry after one of them has finished`)
  if (kept >= MAX_JOBS)
    throw notCreated(`export limit of ${MAX_JOBS} reached; exports are deleted 7 days after completion`)
}

function notCreated(problem: string): ServiceError {
  return new ServiceError('exportNotCreated', { values: { problem } })
}

/** Returns the UUID of a job's id. Throws exportUnknown. */
function uuidOf(id: string): string {
  const [, digits] = /^exp_([0-9a-f]{32})$/.exec(id) ?? []
  if (digits === undefined) throw new ServiceError('exportUnknown')
  return digits
}
