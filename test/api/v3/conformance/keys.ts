import type { Row } from './rows.ts'

/** API keys. */
export const KEY_ROWS: readonly Row[] = [
  {
    ...{ id: 'api_keys.scopes', parameter: 'api_keys scopes', treatment: 'honour' },
    note: 'Rights come in groups, as GET /v3/scopes names them: a part of a group is refused (400, `scopes`), as the key would be wider than it was meant. Names of what is not here grant nothing.',
  },
]
