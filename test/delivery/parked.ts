import type { TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/**
 * Sends messages one after another until one waits at the destination, since only then the worker knows of what holds it there. Returns its id. `send`
 * gets the number of the message, from 1 on.
 */
export async function untilParkedAt(
  { sql }: Pick<TestService, 'sql'>,
  destination: string,
  send: (no: number) => Promise<string>,
): Promise<string> {
  for (let no = 1; ; no++) {
    const id = await send(no)
    const found = await until('a message to be sent or to wait', async () => {
      const [queued] = await sql<{ place: string }[]>`select place from delivery_queue where message_id = ${id}::uuid`
      if (!queued) return 'sent'
      return queued.place === destination && 'parked'
    })
    if (found === 'parked') return id
  }
}
