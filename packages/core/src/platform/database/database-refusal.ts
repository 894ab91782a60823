import { ServiceError } from '../errors.ts'
import { isDatabaseFull, isDatabaseTrouble } from './database.ts'

/** Converts a temporary database failure to the error a client receives; undefined for any other error. */
export function databaseRefusal(error: unknown): ServiceError | undefined {
  if (isDatabaseFull(error)) return new ServiceError('overloaded', { reason: 'the database is full', cause: error })
  if (!isDatabaseTrouble(error)) return undefined
  return new ServiceError('notReady', { reason: 'the database is unavailable', cause: error })
}
