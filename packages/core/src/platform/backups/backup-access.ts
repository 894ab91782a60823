import type { BackupAddress } from '../config/backups.ts'
import { createSecrets } from '../security/secrets.ts'
import type { BackupAccess } from './backup-store.ts'

/** The keys of the encryption are derived from SECRET_KEY and SECRET_KEY_PREVIOUS. */
export function backupAccess(address: BackupAddress): BackupAccess {
  if ('folder' in address) return address
  const { secretKeys, ...store } = address
  return { ...store, keys: secretKeys.map((key) => createSecrets(key).mac('backup', Buffer.alloc(0)).toString('hex')) }
}
