import type { Setting } from './setting.ts'

/** The settings of the start and stop of processes, and of the backups that npm start takes: rows of the list in settings.ts. */
export const PROCESS_SETTINGS: readonly Setting[] = [
  {
    name: 'DRAIN_DELAY',
    default: '0',
    meaning:
      'Seconds (0 to 300) for which an API, relay or returns process answers 503 to GET /health/ready after SIGTERM, and works as ' +
      'before, until it accepts no new connections. Behind a load balancer, set it to the time in which that takes a process out ' +
      'of service: the interval of its health checks, times the failures it waits for, plus a second.',
  },
  {
    name: 'MIGRATE',
    default: 'auto',
    meaning:
      'Who applies the migrations of a new version: auto (the first process of it that starts), or manual (npm run postrider -- ' +
      'migrate; processes wait until that has been run).',
  },
  {
    name: 'API_PROCESSES',
    default: '1',
    meaning: 'Number of API processes that npm start runs on one port (1 to 64).',
  },
  {
    name: 'RELAY_PROCESSES',
    default: '1',
    meaning: 'Number of relay processes that npm start runs on the same ports (1 to 64).',
  },
  {
    name: 'WORKERS',
    default: '1',
    meaning: 'Number of delivery workers that npm start runs (1 to 64).',
  },
  {
    name: 'BACKUP_DIR',
    default: '',
    meaning:
      'Folder of backups of the embedded database, on another disk or a network file system, or s3://BUCKET/PREFIX with the ' +
      'settings S3_… and SECRET_KEY. Every change is copied there within 60 seconds, and npm start takes a base backup every ' +
      'BACKUP_EVERY hours. Set it for every command of the installation. If empty, no backups are made.',
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
