export type ExportFormat = 'json' | 'csv'
export type ExportState = 'queued' | 'running' | 'done' | 'failed'

/** An export of the events of a date range to a file. */
export interface ExportJob {
  /** `exp_` and 32 hexadecimal digits, which cannot be guessed. */
  readonly id: string
  readonly state: ExportState
  readonly format: ExportFormat
  /** `yyyy-mm-dd`, both inclusive, in the account's time zone. */
  readonly firstDay: string
  readonly lastDay: string
  /** The requested kinds of events; if empty, all except deferrals. */
  readonly kinds: readonly string[]
  readonly createdAt: Date
  readonly finishedAt: Date | null
  /** Time when file and job are deleted; null until finished. */
  readonly expiresAt: Date | null
  /** Number of events in the file so far. */
  readonly rows: number
  /** The error; null unless failed. */
  readonly problem: string | null
  /** Link with which anyone can download the file until it expires; null unless done. */
  readonly url: string | null
}

/** The requested events. */
export interface ExportSpan {
  /** `yyyy-mm-dd`, inclusive. */
  readonly startDate: string
  /** Inclusive; undefined for today. */
  readonly endDate: string | undefined
  /** Event names of the log or of webhooks; if empty, all events except deferrals. */
  readonly events: readonly string[]
}

export interface NewExport extends ExportSpan {
  readonly format: ExportFormat
  readonly callbackUrl: string | undefined
  readonly email: string | undefined
}

/** A file that can be read once. */
export interface ExportFile {
  readonly fileName: string
  readonly format: ExportFormat
  readonly content: AsyncIterable<Buffer>
}
