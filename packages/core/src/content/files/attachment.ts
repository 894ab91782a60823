/** A file uploaded once and named by id. */
export interface StoredAttachment {
  readonly id: number
  readonly fileName: string
  readonly content: Buffer
}

export interface FileSummary {
  readonly id: number
  readonly fileName: string
  /** Octets. */
  readonly size: number
  readonly createdAt: Date
}
