import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/process/log.ts'
import type { StoredMessage } from './stored-message.ts'

/** Logs that a message is stored, without addresses and texts; undefined unless LOG_MESSAGES asks for it. */
export function logAccepted(
  log: Log,
  config: Pick<Config, 'logMessages'>,
): ((message: StoredMessage) => void) | undefined {
  if (!config.logMessages) return undefined
  return ({ id, accountId, door, deliveries, size }) =>
    log.info({ messageId: id, accountId, door, recipients: deliveries.length, size }, 'accepted')
}
