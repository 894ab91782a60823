import { ServiceError } from '../errors.ts'
import { isAnswerLost, isDatabaseFull, isDatabaseTrouble } from './database.ts'

/**
 * Converts a temporary database failure to the error a client receives; undefined for any other error. `changes` says that the call was changing
 * something, so that a lost answer leaves its outcome unknown.
 */
export function databaseRefusal(error: unknown, { changes = false } = {}): ServiceError | undefined {
  if (isDatabaseFull(error)) return new ServiceError('overloaded', { reason: 'the database is full', cause: error })
  if (!isDatabaseTrouble(error)) return undefined
  if (changes && isAnswerLost(error))
    return new ServiceError('outcomeUnknown', { reason: 'the connection was lost during a change', cause: error })
  return new ServiceError('notReady', { reason: 'the database is unavailable', cause: error })
}
