import { type Core, isDatabaseAway, type Log } from '@postrider/core'

export interface Troubled {
  readonly readiness: Pick<Core['readiness'], 'noteAway'>
  readonly log: Log
}

/**
 * Logs what the database did not do. A worker has twenty loops: that the database is away is said once for all of them, by the readiness of the
 * process.
 */
export function logTrouble({ readiness, log }: Troubled, err: unknown, message: string): void {
  const isAway = isDatabaseAway(err)
  log[isAway ? 'debug' : 'warn']({ err }, message)
  if (isAway) readiness.noteAway()
}
