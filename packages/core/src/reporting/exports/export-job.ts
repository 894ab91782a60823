export type ExportFormat = 'json' | 'csv'
export type ExportState = 'queued' | 'running' | 'done' | 'failed'

/** A dump of the events of some days into a file. */
export interface ExportJob {
  /** `exp_` and 32 hexadecimal digits, which nobody guesses. */
  readonly id: string
  readonly state: ExportState
  readonly format: ExportFormat
  /** `yyyy-mm-dd`, both inclusive, in the account's time zone. */
  readonly firstDay: string
  readonly lastDay: string
  /** The kinds of events that were asked for; none: all. */
  readonly kinds: readonly string[]
  readonly createdAt: Date
  readonly finishedAt: Date | null
  /** Then file and job are gone. */
  readonly expiresAt: Date | null
  /** Events in the file so far. */
  readonly rows: number
  /** Why it failed. */
  readonly problem: string | null
  /** Where the file lies for whoever has this link, until it expires. Null unless done. */
  readonly url: string | null
}

/** Which events are wanted. */
export interface ExportSpan {
  /** `yyyy-mm-dd`, inclusive. */
  readonly startDate: string
  /** Undefined: today. */
  readonly endDate: string | undefined
  /** In the words of logs or webhooks; none: all. */
  readonly events: readonly string[]
}

export interface NewExport extends ExportSpan {
  readonly format: ExportFormat
  readonly callbackUrl: string | undefined
  readonly email: string | undefined
}

/** A file to be read once, from its beginning. */
export interface ExportFile {
  readonly fileName: string
  readonly format: ExportFormat
  readonly content: AsyncIterable<Buffer>
}
