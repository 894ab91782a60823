import { gunzipSync } from 'node:zlib'
import { type BackupAccess, type BackupStore, openBackupStore, PATIENCE } from '@postrider/core/backup-store'
import { SEGMENT_BYTES } from './wal-segments.ts'

/** The variable with the {@link BackupAccess} of the programs that the database server starts for its write-ahead log. */
export const ACCESS_VARIABLE = 'POSTRIDER_BACKUP_ACCESS'

/** The store of such a program. It imports no more than that: all of core would take half a second for each segment. */
export function openForServer(env: NodeJS.ProcessEnv): Promise<BackupStore> {
  return openBackupStore(JSON.parse(env[ACCESS_VARIABLE] ?? '') as BackupAccess, PATIENCE.once)
}

/** Returns the content of a stored file, which `from` names in the error if it is damaged. */
export function decompressed(stored: Buffer, from: string): Buffer {
  try {
    return gunzipSync(stored, { maxOutputLength: SEGMENT_BYTES })
  } catch (error) {
    throw new Error(`${from} is damaged (${(error as NodeJS.ErrnoException).code})`)
  }
}
