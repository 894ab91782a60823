import type { Event } from '../../events/event.ts'
import type { Sql } from '../../platform/database/database.ts'
import { isTracing, startSpan, traceTime } from '../../platform/tracing/tracing.ts'

/**
 * Adds a request to a webhook to the trace of each message whose events it reported, if that is sampled. Costs nothing in a process that
 * does not trace, else one query by primary key per batch of at most 100 events.
 */
export async function traceRequest(
  sql: Sql,
  events: readonly Event[],
  { webhookId, status, milliseconds }: { webhookId: number; status: number | null; milliseconds: number },
): Promise<void> {
  if (!isTracing()) return
  const endedAt = traceTime()
  const parents = await sql<{ parent: string }[]>`
    select settings->>'traceParent' as parent from messages
     where id = any(${[...new Set(events.flatMap(({ delivery }) => delivery?.messageId ?? []))]}::uuid[]) and settings ? 'traceParent'`
  for (const { parent } of parents) {
    startSpan({ name: 'webhook', kind: 'client', parent, startedAt: endedAt - milliseconds })?.end({
      attributes: {
        'postrider.webhook_id': webhookId,
        'postrider.events': events.length,
        ...(status === null ? {} : { 'http.response.status_code': status }),
      },
      failure: status === null ? 'no response' : status >= 300 ? `status ${status}` : undefined,
      endedAt,
    })
  }
}
