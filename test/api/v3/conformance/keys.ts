import type { Row } from './rows.ts'

/** API keys. */
export const KEY_ROWS: readonly Row[] = [
  {
    ...{ id: 'api_keys.scopes', parameter: 'api_keys scopes', treatment: 'honour' },
    note: 'Rights come in groups, as GET /v3/scopes names them. One that sends may hold back too, and one that reads some may read the others of its group; any other part of a group is refused (400, `scopes`), as the key could change more than it was meant to. Names of what is not here grant nothing.',
  },
]
