import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { PendingQuery, Row } from 'postgres'

/** A COPY in progress. */
export interface Copy {
  readonly stream: Writable
  /** Resolves when the database has stored all that was written, after the end of the stream. Rejects with its error. */
  readonly done: Promise<void>
}

/** The driver's form of a statement; it settles it with these. */
interface Settled {
  reject(error: unknown): void
}

/**
 * Begins a COPY from the client. An error that the database has once the stream has ended, such as that of a full disk, is told to the statement only,
 * which the driver has resolved with the stream by then: the stream would never finish, and its transaction wait until the server ended the session.
 */
export async function beginCopy(statement: PendingQuery<Row[]>): Promise<Copy> {
  const failed = Promise.withResolvers<never>()
  const settled = statement as unknown as Settled
  const reject = settled.reject
  settled.reject = (error) => {
    reject(error)
    failed.reject(error)
  }
  failed.promise.catch(() => {})
  const stream = await statement.writable()
  const done = Promise.race([finished(stream), failed.promise])
  // The writer may be waiting for something else.
  done.catch(() => {})
  return { stream, done }
}
