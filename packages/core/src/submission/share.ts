import type { Submission } from './submission.ts'

/** How much work of one call a process takes on where all its other calls wait for it. */
export interface Share {
  /** Recipients of a submission, copies included. */
  readonly recipients: number
  /** Octets of stored templates and files a call brings in. */
  readonly stored: number
}

/** For whoever has nobody waiting. */
export const EVERYTHING: Share = { recipients: Number.POSITIVE_INFINITY, stored: Number.POSITIVE_INFINITY }

/**
 * 200 recipients take some 10 ms to judge and write, 10,000 half a second; and a small call may name a template of 10 MB, which
 * takes longer to look through than a body that large may.
 */
export const OF_MANY: Share = { recipients: 200, stored: 256 * 1024 }

/** The call is more than the share. Nothing of it was done: whoever has the time can do all of it. */
export class BeyondShare extends Error {
  constructor() {
    super('the call is more work than is taken on here')
  }
}

/** Throws {@link BeyondShare}. */
export function requireShare(done: number, share: number): void {
  if (done > share) throw new BeyondShare()
}

export function countRecipients({ envelopes }: Pick<Submission, 'envelopes'>): number {
  return envelopes.reduce((sum, { to, cc, bcc }) => sum + to.length + cc.length + bcc.length, 0)
}
