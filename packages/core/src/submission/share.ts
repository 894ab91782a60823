import type { Submission } from './submission.ts'

/** Amount of work that a process does for one call while its other calls wait. */
export interface Share {
  /** Recipients of a submission, including cc and bcc. */
  readonly recipients: number
  /** Bytes of stored templates and files used by the call. */
  readonly stored: number
}

/** For processes with no other calls waiting. */
export const EVERYTHING: Share = { recipients: Number.POSITIVE_INFINITY, stored: Number.POSITIVE_INFINITY }

/**
 * 200 recipients take about 10 ms to validate and store, 10,000 take half a second. A small call may name a template of
 * 10 MB, which takes longer to process than a request body may take.
 */
export const OF_MANY: Share = { recipients: 200, stored: 256 * 1024 }

/** The call exceeds the share. Nothing was done yet, so a process that has the time can run all of it. */
export class BeyondShare extends Error {
  constructor() {
    super('the call exceeds the share of work allowed here')
  }
}

/** Throws {@link BeyondShare}. */
export function requireShare(done: number, share: number): void {
  if (done > share) throw new BeyondShare()
}

export function countRecipients({ envelopes }: Pick<Submission, 'envelopes'>): number {
  return envelopes.reduce((sum, { to, cc, bcc }) => sum + to.length + cc.length + bcc.length, 0)
}
