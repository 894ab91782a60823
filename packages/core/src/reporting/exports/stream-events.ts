import type { Sql } from '../../platform/database/database.ts'
import { spanOf } from './days.ts'
import type { ExportSpan } from './export-job.ts'
import { parseKinds } from './kinds.ts'
import { rangeOf, readRun } from './read-span.ts'
import { headOf, lineOf } from './row.ts'

export async function streamEvents(
  sql: Sql,
  accountId: number,
  { startDate, endDate, events }: ExportSpan,
): Promise<AsyncIterable<string>> {
  const { beginsAt, endsAt } = await spanOf(sql, accountId, startDate, endDate)
  const question = { accountId, kinds: parseKinds(events), beginsAt, endsAt }
  const range = await rangeOf(sql, question)
  return (async function* () {
    yield headOf('json')
    for (let { position } = range; position < range.last; ) {
      const run = await readRun(sql, question, { position, last: range.last })
      yield run.events.map((event) => lineOf('json', event)).join('')
      position = run.position
    }
  })()
}
