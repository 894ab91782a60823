import type { Row } from './rows.ts'

export const TEMPLATE_ROWS: readonly Row[] = [
  {
    ...{ id: 'templates.list', parameter: 'GET /v3/templates page_size, page_token, generations', treatment: 'honour' },
    ...{ note: 'Both shapes; page_size outside 1..200: 400.', pending: true },
  },
  {
    id: 'templates.generation',
    parameter: 'template generation',
    treatment: 'honour',
    note: 'Default legacy.',
    pending: true,
  },
  {
    ...{ id: 'templates.editor', parameter: 'version editor', treatment: 'honour', pending: true },
    note: 'Kept; a change is refused.',
  },
  { id: 'templates.test_data', parameter: 'version test_data, thumbnail_url', treatment: 'honour', pending: true },
  { id: 'templates.size', parameter: 'version size', treatment: 'honour', note: 'At most 10 MB.', pending: true },
  { id: 'templates.names', parameter: 'duplicate template and version names', treatment: 'honour', pending: true },
]
