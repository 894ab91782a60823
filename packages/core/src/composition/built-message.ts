/** One recipient's copy of a message, unsigned. */
export interface BuiltMessage {
  readonly octets: Buffer
  /** Why requested content could not be added, for the steps of the attempt. Without text of the message itself. */
  readonly notes: readonly string[]
}
