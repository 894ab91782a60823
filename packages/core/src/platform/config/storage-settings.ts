import type { Setting } from './setting.ts'

/** The settings of the database, and of the key of what is stored in it. */
export const STORAGE_SETTINGS: readonly Setting[] = [
  {
    name: 'DATABASE_URL',
    default: '',
    meaning:
      'URL of the Postgres database (version 15 or newer). Several hosts, separated by commas, need target_session_attrs=primary. ' +
      'If empty, an embedded database in DATA_DIR is used.',
  },
  {
    name: 'DATABASE_READ_URL',
    default: '',
    meaning:
      'URL of a streaming standby of DATABASE_URL, which answers statistics, the event log, exports and lists of the dashboard ' +
      '(docs/scaling.md). Several hosts need target_session_attrs=prefer-standby. If empty, the primary answers them, too.',
  },
  {
    name: 'DATABASE_READ_MAX_LAG',
    default: '10',
    meaning:
      'Seconds (3 to 3600) that the standby of DATABASE_READ_URL may be behind. Beyond that, and while it does not respond, the primary answers.',
  },
  {
    name: 'DATA_DIR',
    default: './data',
    meaning: 'Directory of the embedded database, keys, certificate and sandbox inbox.',
  },
  {
    name: 'SECRET_KEY',
    isSecret: true,
    default: '',
    meaning:
      'Secret that encrypts DKIM keys and signs return paths; at least 32 characters. All hosts of one database need the same. If ' +
      'empty, it is created once in DATA_DIR/secret-key.',
  },
  {
    name: 'SECRET_KEY_PREVIOUS',
    isSecret: true,
    default: '',
    meaning:
      'Up to three former values of SECRET_KEY, separated by commas, while it is rotated and as long as links in sent mail are to work (docs/runbooks.md).',
  },
  {
    name: 'REQUIRE_SYNC_STANDBY',
    default: '0',
    meaning:
      '1: processes are not ready unless a synchronous standby of the database is connected, so that accepted mail is on two servers.',
  },
  {
    name: 'BODY_STORE',
    default: 'postgres',
    meaning:
      'Where the bodies of large messages are stored: postgres, or s3://BUCKET/PREFIX for S3-compatible object storage ' +
      '(docs/object-storage.md). All processes need the same.',
  },
  {
    name: 'BODY_STORE_ABOVE_KB',
    default: '64',
    meaning:
      'Kilobytes (1 to 1000000) above which the body of a message, as it is stored, is in the object storage of BODY_STORE. Smaller ones are in the database.',
  },
  {
    name: 'S3_ENDPOINT',
    default: 'https://s3.S3_REGION.amazonaws.com',
    meaning: 'URL of the object storage, without the bucket.',
  },
  { name: 'S3_REGION', default: 'us-east-1', meaning: 'Region of the object storage, as requests are signed for it.' },
  { name: 'S3_ACCESS_KEY_ID', default: '', meaning: 'Id of the access key for the object storage.' },
  {
    name: 'S3_SECRET_ACCESS_KEY',
    isSecret: true,
    default: '',
    meaning: 'Secret of S3_ACCESS_KEY_ID. It signs requests and is never sent.',
  },
]
