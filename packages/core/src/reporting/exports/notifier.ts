import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import { postCallback } from './callback.ts'
import type { ExportJob } from './export-job.ts'
import { mailNotice, type NoticeDependencies } from './notice.ts'
import { claimNotification, MAX_NOTIFICATION_ATTEMPTS, type StoredExport, saveTold } from './store.ts'

export interface TellDependencies extends NoticeDependencies {
  readonly http: OutboundHttp
  readonly shown: (job: StoredExport) => ExportJob
}

/** Sends the notifications of a claimed job. */
export type Notification = () => Promise<void>

/**
 * Returns a function that claims one finished job, to be reported by its callback and by email. Failed notifications are retried for
 * a day and a half. Delivery is at least once for callbacks, exactly once for emails. Returns undefined if none is due. Any number
 * of workers may call it, concurrently too. A process sends one notification per account at a time, so that callbacks which do not
 * respond do not delay other accounts.
 */
export function createNotifier(dependencies: TellDependencies): () => Promise<Notification | undefined> {
  const busy = new Set<number>()
  return async () => {
    const stored = await claimNotification(dependencies.sql, [...busy])
    if (!stored) return undefined
    busy.add(stored.accountId)
    return () => notify(dependencies, stored).finally(() => busy.delete(stored.accountId))
  }
}

async function notify(dependencies: TellDependencies, stored: StoredExport): Promise<void> {
  const { sql, http, shown } = dependencies
  const job = shown(stored)
  const { callbackUrl, email } = stored
  const callbackTold =
    stored.callbackTold || callbackUrl === null || (await postCallback(http, callbackUrl, callbackBody(job)))
  const emailTold = stored.emailTold || email === null || (await mail(dependencies, stored, job))
  const over = (callbackTold && emailTold) || stored.tellings >= MAX_NOTIFICATION_ATTEMPTS
  await saveTold(sql, stored.id, { callbackTold, emailTold, over })
}

/** Returns the body of a callback. */
function callbackBody({ id, state, format, firstDay, lastDay, rows, url, expiresAt, problem }: ExportJob) {
  return {
    jobId: id,
    status: state,
    format,
    startdate: firstDay,
    enddate: lastDay,
    rows,
    ...(url === null ? {} : { url, expires: expiresAt?.toISOString() }),
    ...(problem === null ? {} : { problem }),
  }
}

/** Returns false if the email cannot be sent at present, for example because the account has no credits. */
async function mail(dependencies: TellDependencies, stored: StoredExport, job: ExportJob): Promise<boolean> {
  try {
    await mailNotice(dependencies, stored, job)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
