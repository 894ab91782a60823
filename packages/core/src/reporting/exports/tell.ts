import { ServiceError } from '../../platform/errors.ts'
import type { OutboundHttp } from '../../platform/outbound-http.ts'
import { postCallback } from './callback.ts'
import type { ExportJob } from './export-job.ts'
import { mailNotice, type NoticeDependencies } from './notice.ts'
import { MOST_TELLINGS, type StoredExport, saveTold, takeTelling } from './store.ts'

export interface TellDependencies extends NoticeDependencies {
  readonly http: OutboundHttp
  readonly shown: (job: StoredExport) => ExportJob
}

/** Tells of a job that was taken. */
export type Telling = () => Promise<void>

/**
 * Takes one job that has ended, to be told of by its callback and by mail; what fails is tried again for a day and a half. At
 * least once: a callback may come twice, a mail does not. Answers undefined when there is nothing to tell. For any number of
 * workers, and any number at once: of one account's there is one at a time in a process, so that callbacks which do not answer
 * hold up nobody else's.
 */
export function tellerOf(dependencies: TellDependencies): () => Promise<Telling | undefined> {
  const busy = new Set<number>()
  return async () => {
    const stored = await takeTelling(dependencies.sql, [...busy])
    if (!stored) return undefined
    busy.add(stored.accountId)
    return () => tell(dependencies, stored).finally(() => busy.delete(stored.accountId))
  }
}

async function tell(dependencies: TellDependencies, stored: StoredExport): Promise<void> {
  const { sql, http, shown } = dependencies
  const job = shown(stored)
  const { callbackUrl, email } = stored
  const callbackTold =
    stored.callbackTold || callbackUrl === null || (await postCallback(http, callbackUrl, toldOf(job)))
  const emailTold = stored.emailTold || email === null || (await mail(dependencies, stored, job))
  const over = (callbackTold && emailTold) || stored.tellings >= MOST_TELLINGS
  await saveTold(sql, stored.id, { callbackTold, emailTold, over })
}

/** What a callback is told. */
function toldOf({ id, state, format, firstDay, lastDay, rows, url, expiresAt, problem }: ExportJob) {
  return {
    ...{ jobId: id, status: state, format, startdate: firstDay, enddate: lastDay, rows },
    ...(url === null ? {} : { url, expires: expiresAt?.toISOString() }),
    ...(problem === null ? {} : { problem }),
  }
}

/** False: not now, as when the account has no credit left. */
async function mail(dependencies: TellDependencies, stored: StoredExport, job: ExportJob): Promise<boolean> {
  try {
    await mailNotice(dependencies, stored, job)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
