/** An uploaded file that messages refer to by id. */
export interface StoredAttachment {
  readonly id: number
  readonly fileName: string
  readonly content: Buffer
}

export interface FileSummary {
  readonly id: number
  readonly fileName: string
  /** Size in bytes. */
  readonly size: number
  readonly createdAt: Date
}
