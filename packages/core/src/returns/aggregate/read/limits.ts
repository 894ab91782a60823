/** Limits of an aggregate report, which anybody can send. */
export const REPORT_LIMITS = {
  /** Octets of the unpacked report. Reports of the largest receivers have a few megabytes. */
  unpacked: 50 * 1024 * 1024,
  /** A TLS report is read as a whole, which takes several times its size in memory. */
  unpackedJson: 10 * 1024 * 1024,
  /** Octets unpacked for each packed one. Records with the same texts reach 40. */
  ratio: 100,
  /** Octets that may always be unpacked: a report on many equal records compresses well. */
  unpackedAlways: 8 * 1024 * 1024,
  /** Records, or policies and failures. */
  rows: 100_000,
  depth: 20,
  /** Characters without an element: texts in a report are short. */
  between: 256 * 1024,
} as const

/** Why a message is not recorded as a report. */
export type Unreadable = 'no-report' | 'report-too-large' | 'report-malformed'

/** A report that cannot be read. The reader of reports catches it. */
export class UnreadableReport extends Error {
  readonly why: Unreadable

  constructor(why: Unreadable, message: string) {
    super(message)
    this.why = why
  }
}

export function tooLarge(what: string): UnreadableReport {
  return new UnreadableReport('report-too-large', what)
}

export function malformed(what: string): UnreadableReport {
  return new UnreadableReport('report-malformed', what)
}
