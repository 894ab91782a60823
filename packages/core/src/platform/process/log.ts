import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import pino from 'pino'
import { defined } from '../defined.ts'

/** The logger that core functions take: pino's interface, so that child loggers can be passed. */
export type Log = pino.Logger

/** Lines of JSON for programs, or lines for people. */
export type LogFormat = 'json' | 'pretty'

/**
 * Creates the logger of a process. Each event is one line. Never log secrets, addresses or bodies; log ids
 * instead. A `messageId` is logged as clients and commands see it, without hyphens. `format` may be a stream, which
 * gets lines of JSON.
 */
export function createLog(process: string, level: string, format: LogFormat | pino.DestinationStream = 'json'): Log {
  const options = {
    level,
    base: { process },
    serializers: { err: serializeError, messageId: (id: unknown) => String(id).replaceAll('-', '') },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  if (format === 'json') return pino(options)
  return pino(options, format === 'pretty' ? prettyStream() : format)
}

/** Loaded only for people, since it takes 10 ms. Lines are written at once, so that the last one before an end is not lost. */
function prettyStream(): pino.DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  // It follows NO_COLOR.
  const colorize = isatty(1) && pretty.isColorSupported
  return pretty({
    colorize,
    sync: true,
    translateTime: 'HH:MM:ss.l',
    ignore: 'process',
    messageFormat: '{process}: {msg}',
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
