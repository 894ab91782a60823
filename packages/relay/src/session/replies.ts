import { databaseRefusal, ERRORS, type ErrorRow, type Log, ServiceError } from '@postrider/core'
import { CLIENT_LOST } from '../message/message-data.ts'

/** An error that smtp-server turns into a reply: `message` begins with the enhanced status code. */
export interface ReplyError extends Error {
  responseCode: number
}

/** The reply to whatever a handler of a session threw. */
export function asReply(error: unknown, log: Log): Error {
  const { responseCode, code } = error as { responseCode?: number; code?: string }
  if (responseCode !== undefined) return error as Error
  // The client is gone, and nothing was stored.
  if (code === CLIENT_LOST) return protocolReply(421, '4.4.2 Connection lost')
  return replyFor(error, log)
}

/** Errors become the reply of their row in the table, others a temporary failure. What is our own failure is logged as such. */
export function replyFor(error: unknown, log: Log): ReplyError {
  if (error instanceof ServiceError) {
    const isOurs = error.row.status >= 500
    log[isOurs ? 'warn' : 'info'](
      { refusal: error.errorName, reason: error.reason, err: error.cause },
      'request rejected',
    )
    return reply(error.row, error.smtpText)
  }
  const unavailable = databaseRefusal(error)
  if (unavailable) {
    log.warn({ err: error, refusal: unavailable.errorName }, 'database unavailable')
    return reply(unavailable.row)
  }
  log.error({ err: error }, 'internal error')
  return reply(ERRORS.internal)
}

function reply(row: ErrorRow, sentence = row.sentence): ReplyError {
  const { code: responseCode, enhanced } = row.smtp
  return Object.assign(new Error(`${enhanced} ${sentence}`), { responseCode })
}

/** A reply on a matter of the protocol, which has no row in the table of errors. */
export function protocolReply(responseCode: number, text: string): ReplyError {
  return Object.assign(new Error(text), { responseCode })
}
