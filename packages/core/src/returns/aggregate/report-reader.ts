import type { SigningKeys } from '../../mime/conformance/verify-signatures.ts'
import { createThreadPool, ThreadStopped } from '../../platform/concurrency/guarded-thread.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Unreadable } from './read/limits.ts'
import type { DmarcReading, TlsReading } from './read/report-reading.ts'

/** A message with a report, as the thread has read it. */
export interface ThreadReport {
  readonly reading: DmarcReading | TlsReading | { readonly kind: 'unreadable'; readonly why: Unreadable }
  /** The domain of the address in From, in lower case; empty if there is none. Unverified. */
  readonly sender: string
  /** The domain of the organization's valid DKIM signature; undefined if there is none. */
  readonly signer: string | undefined
}

export interface ReadReport extends Omit<ThreadReport, 'reading'> {
  readonly reading: ThreadReport['reading'] | { readonly kind: 'failed' }
}

/** A message with a report to be read. */
export interface ReportOrder {
  readonly octets: Uint8Array
  readonly keys: SigningKeys
}

/** Reads aggregate reports in a thread of their own, so that one of 50 MiB does not delay the reading of bounces. */
export interface ReportReader {
  /** Throws `overloaded`. */
  read(raw: Buffer, keys: SigningKeys, client: string | undefined): Promise<ReadReport>
  close(): Promise<void>
}

export function createReportReader(): ReportReader {
  const pool = createThreadPool<ReportOrder, ThreadReport>({
    name: 'aggregate report reading',
    url: new URL('./report-thread.ts', import.meta.url),
    // 50 MiB of records take 0.8 s, of empty elements 1 s.
    threads: 1,
    waiting: 500,
    mostCpu: 10_000,
    longest: 60_000,
    heap: 256,
  })

  return {
    async read(raw, keys, who) {
      try {
        return await pool.askInTurn(() => ({ octets: new Uint8Array(raw), keys }), {
          who,
          transfer: ({ octets }) => [octets.buffer as ArrayBuffer],
        })
      } catch (error) {
        if (!(error instanceof ThreadStopped)) throw error
        if (error.why === 'busy') throw new ServiceError('overloaded', { reason: error.message })
        return { reading: { kind: 'failed' }, sender: '', signer: undefined }
      }
    },
    close: () => pool.close(),
  }
}
