import pino from 'pino'

/** What the domain needs of a logger: pino's calls, so that a child can be handed down. */
export type Log = pino.Logger

/**
 * Makes the logger of one process. One event is one JSON line. Secrets, addresses and bodies never go in: callers log ids.
 */
export function createLog(process: string, level: string): Log {
  return pino({
    level,
    base: { process },
    serializers: { err: describeFault },
    timestamp: pino.stdTimeFunctions.isoTime,
  })
}

/** A fault as the log shows it. Database errors carry their query and its parameters, which hold addresses and bodies: left out. */
function describeFault(fault: unknown): Record<string, unknown> {
  if (!(fault instanceof Error)) return { message: String(fault) }
  const { name, message, stack } = fault
  const code = (fault as { code?: unknown }).code
  return { name, message, ...(code === undefined ? {} : { code }), stack }
}
