import type { Sql } from '../../platform/database/database.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { spanOf } from './days.ts'
import type { ExportSpan } from './export-job.ts'
import { parseKinds } from './kinds.ts'
import { rangeOf, readRun } from './read-span.ts'
import { headOf, lineOf } from './row.ts'

export async function streamEvents(
  { sql, reads }: { readonly sql: Sql; readonly reads: Reads },
  accountId: number,
  { startDate, endDate, events }: ExportSpan,
): Promise<AsyncIterable<string>> {
  const { beginsAt, endsAt } = await spanOf(sql, accountId, startDate, endDate)
  const question = { accountId, kinds: parseKinds(events), beginsAt, endsAt }
  const range = await reads.snapshot((snapshot) => rangeOf(snapshot, question))
  return (async function* () {
    yield headOf('json')
    for (let { position } = range; position < range.last; ) {
      const run = await reads.snapshot((snapshot) => readRun(snapshot, question, { position, last: range.last }))
      yield run.events.map((event) => lineOf('json', event)).join('')
      position = run.position
    }
  })()
}
