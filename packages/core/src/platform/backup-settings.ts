/** The settings of backups: rows of the list in settings.ts. */
export const BACKUP_SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'BACKUP_DIR',
    default: '',
    meaning:
      'Folder of backups of the embedded database, on another disk or a network file system. Every change is copied to it within 60 seconds, and npm start takes a base backup every BACKUP_EVERY hours. Set it for every command of the installation. If empty, no backups are made.',
  },
  {
    name: 'BACKUP_EVERY',
    default: '24',
    meaning:
      'Hours between two base backups (1 to 720). A restore replays what was changed since the last one before it.',
  },
  {
    name: 'BACKUP_KEEP',
    default: '7',
    meaning:
      'Number of base backups that are kept (1 to 1000). Older ones are deleted, with the changes before the oldest that is kept.',
  },
]
