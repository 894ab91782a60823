import { ServiceError } from '../errors.ts'
import { isDatabaseFull, isDatabaseTrouble } from './database.ts'

/** What a client is told of the database's trouble, which is no fault of ours and passes; undefined for any other error. */
export function databaseRefusal(error: unknown): ServiceError | undefined {
  if (isDatabaseFull(error)) return new ServiceError('overloaded', { reason: 'the database is full', cause: error })
  if (!isDatabaseTrouble(error)) return undefined
  return new ServiceError('notReady', { reason: 'the database can not serve now', cause: error })
}
