import pino from 'pino'
import { defined } from './defined.ts'

/** The logger that core functions take: pino's interface, so that child loggers can be passed. */
export type Log = pino.Logger

/**
 * Creates the logger of a process. Each event is one line of JSON. Never log secrets, addresses or bodies; log ids
 * instead. A `messageId` is logged as clients and commands see it, without hyphens.
 */
export function createLog(process: string, level: string): Log {
  return pino({
    level,
    base: { process },
    serializers: { err: serializeError, messageId: (id: unknown) => String(id).replaceAll('-', '') },
    timestamp: pino.stdTimeFunctions.isoTime,
  })
}

/**
 * Serializes an error. The query and parameters of a database error are omitted, since they contain addresses and
 * bodies.
 */
function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const code = (error as { code?: unknown }).code
  return { name, message, ...defined({ code }), stack }
}
