/** The settings of the database, and of the key of what is stored in it. */
export const STORAGE_SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'DATABASE_URL',
    default: '',
    meaning:
      'URL of the Postgres database (version 15 or newer). Several hosts, separated by commas, need target_session_attrs=primary. If empty, an embedded database in DATA_DIR is used.',
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
