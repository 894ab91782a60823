import type { TestService } from './service.ts'
import { until } from './until.ts'

/**
 * Numbers all events there are, and answers how many it numbered. A transaction that is open in this database holds numbers up, be it
 * the note of a key's last use, which the API writes a second after a call; that is waited for.
 */
export async function numberEvents({ core, sql }: Pick<TestService, 'core' | 'sql'>): Promise<number> {
  let count = 0
  await until('all events to be numbered', async () => {
    for (let more = true; more; ) {
      const done = await core.events.sequence()
      count += done.count
      more = done.more
    }
    const [left] = await sql`
      select from events where transaction > (select transaction from event_cursors where name = 'numbers') limit 1`
    return left === undefined
  })
  return count
}
