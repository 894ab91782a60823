import type { BackupAccess, BackupStore, Patience } from './backup-store.ts'

export { type BackupAccess, type BackupStore, PATIENCE } from './backup-store.ts'

export async function openBackupStore(access: BackupAccess, patience: Patience): Promise<BackupStore> {
  if ('folder' in access) return (await import('./folder-backups.ts')).folderBackups(access.folder)
  // Loaded only when it is needed: the database server starts a program for each segment of its log.
  return (await import('./object-backups.ts')).objectBackups(access, patience)
}
