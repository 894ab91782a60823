import { resolve } from 'node:path'
import { ConfigError, type Environment } from './config-error.ts'
import { type ObjectStoreConfig, objectStore } from './object-storage.ts'
import { secretKeys } from './secret-keys.ts'
import { wholeNumber } from './values.ts'

/** The backups of the embedded database that the service takes itself. */
export interface BackupConfig {
  /** BACKUP_DIR as it is set. */
  readonly location: string
  readonly address: BackupAddress
  /** Hours between two base backups. */
  readonly everyHours: number
  /** Number of base backups that are kept. */
  readonly keep: number
}

/** A folder, or object storage with the keys that backups are encrypted with: first SECRET_KEY, then SECRET_KEY_PREVIOUS. */
export type BackupAddress =
  | { readonly folder: string }
  | (ObjectStoreConfig & { readonly secretKeys: readonly string[] })

/** Undefined if it takes none. Throws ConfigError. */
export function backups(env: Environment): BackupConfig | undefined {
  const everyHours = wholeNumber(env, 'BACKUP_EVERY', 24, 1, 720)
  const keep = wholeNumber(env, 'BACKUP_KEEP', 7, 1, 1000)
  const location = env.BACKUP_DIR
  if (!location) return undefined
  return { location, address: backupAddress(env, 'BACKUP_DIR', location), everyHours, keep }
}

/** Reads a path or `s3://BUCKET/PREFIX`, the value of `name`. Throws ConfigError. */
export function backupAddress(env: Environment, name: string, text: string): BackupAddress {
  // With one slash it would be a folder with the name of a bucket.
  if (/^[a-z][a-z0-9+.-]*:\//i.test(text) && !text.startsWith('s3://'))
    throw new ConfigError(name, 'must be a folder, or s3://BUCKET/PREFIX in lower case')
  if (!text.startsWith('s3://')) return { folder: resolve(text) }
  const store = objectStore(env, name, text)
  const { secretKey, previousSecretKeys } = secretKeys(env)
  if (!secretKey) {
    throw new ConfigError(
      'SECRET_KEY',
      `must be set, because ${name} is in object storage: backups are encrypted with it, and DATA_DIR/secret-key is lost with the disk. ` +
        'Set it to the content of that file if there is one, and keep it in another place',
    )
  }
  return { ...store, secretKeys: [secretKey, ...previousSecretKeys] }
}
