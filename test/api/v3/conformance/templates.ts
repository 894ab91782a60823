import type { Row } from './rows.ts'

/** Templates and their versions. */
export const TEMPLATE_ROWS: readonly Row[] = [
  {
    id: 'templates.pages',
    parameter: 'GET /v3/templates page_size, page_token, generations',
    treatment: 'honour',
    note: 'Both shapes of answer. A page_size outside 1 to 200, another generation, a token that is none of ours: 400.',
  },
  {
    id: 'template.generation',
    parameter: 'template generation',
    treatment: 'honour',
    note: 'Legacy unless dynamic is said; other values: 400.',
  },
  {
    id: 'version.editor',
    parameter: 'version editor',
    treatment: 'honour',
    note: 'Kept; another one for a version that is there: 400.',
  },
  {
    id: 'version.test_data',
    parameter: 'version test_data, thumbnail_url',
    treatment: 'honour',
    note: 'test_data is kept and must be JSON; thumbnail_url is empty.',
  },
  {
    id: 'version.size',
    parameter: 'version size',
    treatment: 'honour',
    note: 'Less than 10 MB of HTML and of plain text each; more: 400. Plain text is made of HTML up to 256 K characters.',
  },
  { id: 'version.names', parameter: 'duplicate version or template names', treatment: 'honour', note: 'Allowed.' },
]
