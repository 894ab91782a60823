import type { Row } from './rows.ts'

/** API keys. */
export const KEY_ROWS: readonly Row[] = [
  {
    id: 'api_keys.scopes',
    parameter: 'api_keys scopes',
    treatment: 'honour',
    note:
      'The key has exactly the requested scopes, and they are returned unchanged. Read-only scopes can be requested. Only some ' +
      'of the write scopes of a group: 400 (`scopes`), because v2 and SMTP do not distinguish them. With `mail.send`, any subset ' +
      'of the sending scopes is valid. Scopes of unsupported features have no effect.',
  },
]
