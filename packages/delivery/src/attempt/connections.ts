import type { SmtpConnection } from '../smtp/connection.ts'

/** The connections of one conversation: one at a time. */
export interface Connections {
  /** An open session of the site, if there was one. The server may have ended it meanwhile. */
  readonly kept: SmtpConnection | undefined
  /** A connection was opened; the one before is closed. */
  opened(connection: SmtpConnection): void
  /** Keeps the session for further messages. */
  keep(connection: SmtpConnection): void
  /** The connection was one too many: no other one takes its place. */
  giveUp(): void
}
