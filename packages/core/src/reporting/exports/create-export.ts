import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { parseAddress } from '../../mime/address.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import { requireReachable } from './callback.ts'
import { spanOf } from './days.ts'
import type { NewExport } from './export-job.ts'
import { parseKinds } from './kinds.ts'
import { type NoticeDependencies, noticeSender, validateNotice } from './notice.ts'
import { countJobs, insertJob, type StoredExport } from './store.ts'

/** Maximum number of queued and running jobs per account, and of all jobs. */
const MAX_OPEN = 5
const MAX_JOBS = 100

export async function createExport(
  dependencies: NoticeDependencies & { readonly http: OutboundHttp },
  { accountId, wanted, by }: { readonly accountId: number; readonly wanted: NewExport; readonly by: Actor },
): Promise<StoredExport> {
  const { sql, http } = dependencies
  const { format, callbackUrl, startDate, endDate, events } = wanted
  // Users and the operator look when it is done.
  if (callbackUrl === undefined && wanted.email === undefined && by.keyId !== null)
    throw new ServiceError('exportTargetMissing')
  const span = await spanOf(sql, accountId, startDate, endDate)
  const kinds = parseKinds(events)
  const email = wanted.email === undefined ? null : await recipientOf(dependencies, accountId, wanted.email, by)
  // Before the URL is probed, so that clients cannot trigger an unlimited number of probes.
  requireCapacity(await countJobs(sql, accountId))
  if (callbackUrl !== undefined) await requireReachable(http, callbackUrl)
  return sql.begin(async (transaction) => {
    const job = await insertJob(transaction, {
      accountId,
      format,
      kinds,
      ...span,
      callbackUrl: callbackUrl ?? null,
      email,
      apiKeyId: by.keyId,
      clientAddress: by.address,
    })
    await noteChange(transaction, {
      accountId,
      by,
      action: 'export.create',
      object: `export ${job.publicId}`,
      after: {
        startdate: span.firstDay,
        enddate: span.lastDay,
        format,
        events: kinds,
        callback: callbackUrl !== undefined,
        email: email !== null,
      },
    })
    // After the audit entry, which serializes the changes of an account, so that the count is exact.
    const { kept, open } = await countJobs(transaction, accountId)
    requireCapacity({ kept: kept - 1, open: open - 1 })
    return job
  }) as Promise<StoredExport>
}

/** Returns the canonical address. Throws exportEmailInvalid, exportNotCreated and the errors of sending mail to it. */
async function recipientOf(
  dependencies: NoticeDependencies,
  accountId: number,
  email: string,
  { keyId }: Actor,
): Promise<string> {
  const address = parseAddress(email)
  if (!address) throw new ServiceError('exportEmailInvalid')
  const from = await noticeSender(dependencies.sql, accountId)
  if (!from) throw notCreated('the account has no active sending domain to send the notification from')
  await validateNotice(dependencies, { accountId, apiKeyId: keyId, from, to: address.text })
  return address.text
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
