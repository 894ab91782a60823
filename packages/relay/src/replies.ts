import { databaseRefusal, ERRORS, type ErrorRow, type Log, ServiceError } from '@postrider/core'

/** An error the library turns into a reply: code, and a text that begins with its enhanced code. */
export interface ReplyError extends Error {
  responseCode: number
}

/** Refusals become their row's reply; anything else is our fault, logged, and temporary outside. */
export function replyFor(error: unknown, log: Log): ReplyError {
  if (error instanceof ServiceError) {
    log.info({ refusal: error.errorName, reason: error.reason }, 'refused')
    return reply(error.row, error.smtpText)
  }
  const passing = databaseRefusal(error)
  if (passing) {
    log.warn({ err: error, refusal: passing.errorName }, 'the database can not serve now')
    return reply(passing.row)
  }
  log.error({ err: error }, 'fault')
  return reply(ERRORS.internal)
}

function reply(row: ErrorRow, sentence = row.sentence): ReplyError {
  const [responseCode, enhanced] = row.smtp
  return Object.assign(new Error(`${enhanced} ${sentence}`), { responseCode })
}

/** A reply that is about SMTP itself, and so has no row in the table. */
export function protocolReply(responseCode: number, text: string): ReplyError {
  return Object.assign(new Error(text), { responseCode })
}
