import type { Row } from './rows.ts'

export const STATS_ROWS: readonly Row[] = [
  { id: 'stats.dates', parameter: 'GET /v3/stats start_date, end_date', treatment: 'honour' },
  {
    id: 'stats.aggregated_by',
    parameter: 'aggregated_by',
    treatment: 'honour',
    note: 'day, week, month',
  },
  { id: 'stats.page', parameter: 'stats limit, offset', treatment: 'honour' },
  {
    id: 'categories.page',
    parameter: 'GET /v3/categories limit, offset, category',
    treatment: 'honour',
  },
  { id: 'categories.sort_by', parameter: 'sort_by (categories)', treatment: 'ignore' },
]
