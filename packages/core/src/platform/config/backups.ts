import { resolve } from 'node:path'
import type { Environment } from './config-error.ts'
import { wholeNumber } from './values.ts'

/** The backups of the embedded database that the service takes itself. */
export interface BackupConfig {
  /** The backup folder. */
  readonly folder: string
  /** Hours between two base backups. */
  readonly everyHours: number
  /** Number of base backups that are kept. */
  readonly keep: number
}

/** Undefined if it takes none. Throws ConfigError. */
export function backups(env: Environment): BackupConfig | undefined {
  const everyHours = wholeNumber(env, 'BACKUP_EVERY', 24, 1, 720)
  const keep = wholeNumber(env, 'BACKUP_KEEP', 7, 1, 1000)
  return env.BACKUP_DIR ? { folder: resolve(env.BACKUP_DIR), everyHours, keep } : undefined
}
