/** The settings of the database, and of the key of what is stored in it. */
export const STORAGE_SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'DATABASE_URL',
    default: '',
    meaning:
      'URL of the Postgres database (version 15 or newer). Several hosts, separated by commas, need target_session_attrs=primary. If empty, an embedded database in DATA_DIR is used.',
  },
  {
    name: 'DATABASE_READ_URL',
    default: '',
    meaning:
      'URL of a streaming standby of DATABASE_URL, which answers statistics, the event log, exports and lists of the dashboard (docs/scaling.md). Several hosts need target_session_attrs=prefer-standby. If empty, the primary answers them, too.',
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
    default: '',
    meaning:
      'Secret that encrypts DKIM keys and signs return paths; at least 32 characters. All hosts of one database need the same. If empty, it is created once in DATA_DIR/secret-key.',
  },
  {
    name: 'SECRET_KEY_PREVIOUS',
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
]
