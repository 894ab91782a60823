import type { Row } from './rows.ts'

/** Templates and their versions. */
export const TEMPLATE_ROWS: readonly Row[] = [
  {
    id: 'templates.pages',
    parameter: 'GET /v3/templates page_size, page_token, generations',
    treatment: 'honour',
    note: 'Both response formats. A page_size outside 1 to 200, an unknown generation or an invalid token: 400.',
  },
  {
    id: 'template.generation',
    parameter: 'template generation',
    treatment: 'honour',
    note: 'Default legacy; values other than legacy and dynamic: 400.',
  },
  {
    id: 'version.editor',
    parameter: 'version editor',
    treatment: 'honour',
    note: 'Stored; changing the editor of an existing version: 400.',
  },
  {
    id: 'version.test_data',
    parameter: 'version test_data, thumbnail_url',
    treatment: 'honour',
    note: 'test_data is stored and must be JSON; thumbnail_url is empty.',
  },
  {
    id: 'version.size',
    parameter: 'version size',
    treatment: 'honour',
    note: 'HTML and plain text: less than 10 MB each, otherwise 400. Plain text is generated from HTML of at most 256 K characters.',
  },
  { id: 'version.names', parameter: 'duplicate version or template names', treatment: 'honour', note: 'Allowed.' },
]
