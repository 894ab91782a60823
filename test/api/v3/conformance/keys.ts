import type { Row } from './rows.ts'

/** API keys. */
export const KEY_ROWS: readonly Row[] = [
  {
    id: 'api_keys.scopes',
    parameter: 'api_keys scopes',
    treatment: 'honour',
    note: 'Kept as they were asked for, answered the same, and the key has no other. Reading alone can be asked for. Some of what changes a thing without the rest is refused (400, `scopes`), as v2 and SMTP know no parts; with `mail.send` any part of sending can be named. Names of what is not here grant nothing.',
  },
]
