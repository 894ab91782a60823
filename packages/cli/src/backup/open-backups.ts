import { type BackupAddress, type BackupStore, backupAccess, openBackupStore, type Patience } from '@postrider/core'

/** Calls `act` with the backups at an address, and closes their connections. */
export async function withBackups<T>(
  address: BackupAddress,
  patience: Patience,
  act: (store: BackupStore) => Promise<T>,
): Promise<T> {
  const store = await openBackupStore(backupAccess(address), patience)
  try {
    return await act(store)
  } finally {
    store.close()
  }
}
