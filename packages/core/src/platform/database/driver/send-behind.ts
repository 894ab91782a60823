/** A query of the driver, with the fields that its types leave out. */
interface DriverQuery extends Promise<unknown> {
  /** Undefined if the promise is not the driver's, but of one who waits for it. */
  readonly options?: { onexecute?: ((connection: DriverConnection) => boolean) | undefined }
  /** The types of its parameters are not known yet, so only a part of it was sent. */
  readonly describeFirst?: boolean
  /** Set if its plan was out of date, and it was sent again. */
  readonly retried?: unknown
  executed: boolean
  deadline: number
  alone: boolean
}
interface DriverConnection {
  execute(query: DriverQuery): boolean
}

/**
 * Has a statement sent on the connection of `first`, right behind it. The server begins with it when it has ended `first` and its transaction,
 * without a round trip, and also if `first` fails. Returns a function that says, when `first` has ended, whether that was so: not if this
 * connection has never run `first` before, and not within a transaction.
 *
 * `following` returns the statement, which must have no parameters: the driver would first ask the server for their types, and if it had to send `first`
 * again meanwhile, each would get the other's answer. It is called when `first` is sent, which may wait for a connection, and `onSent` with its promise.
 */
export function sendBehind(
  first: Promise<unknown>,
  following: () => Promise<unknown>,
  onSent: (sent: Promise<unknown>) => void,
): () => boolean {
  const query = first as DriverQuery
  const { options } = query
  if (!options) return () => false
  let isSent = false
  const sendNext = (connection: DriverConnection): boolean => {
    // Once, since it may be sent again.
    options.onexecute = undefined
    if (query.describeFirst) return false
    const next = following() as DriverQuery
    isSent = true
    // The pool does not send it, too.
    next.executed = true
    next.deadline = query.deadline
    next.alone = query.alone
    onSent(next)
    return connection.execute(next)
  }
  options.onexecute = sendNext
  return () => isSent && query.retried === undefined
}
