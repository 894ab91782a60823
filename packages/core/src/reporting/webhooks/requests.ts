import type { AnySql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { RETENTION_DAYS, RING } from './store.ts'
import type { LeasedBatch, WebhookDelivery, Written } from './webhook.ts'

/** A page of a webhook's requests, the latest first. */
export interface RequestPage {
  readonly limit: number
  readonly offset?: number
  /** Only those that failed. */
  readonly failed?: boolean
}

/** A stored request. What of it is null was not stored by older versions. */
export interface StoredRequest extends WebhookDelivery, Pick<LeasedBatch, 'accountId'> {
  readonly types: LeasedBatch['types'] | null
  readonly written: Written | null
  readonly head: string | null
  readonly answerHead: string | null
  readonly answer: Buffer | null
  /** The state of its batch; null if the receiver has it. */
  readonly batchState: 'waiting' | 'dead' | null
  readonly nextTryAt: Date | null
}

/** Requests before the first of a page: each is looked up by its place. */
const MAX_OFFSET = 10_000

const columns = (sql: AnySql) => sql`
  (extract(epoch from d.at) * 1000000)::float8 as id, d.batch_id as "batchId", d.at, d.after_number::float8 as "after", d.to_number::float8 as "to",
  d.attempt, d.status, d.milliseconds, d.problem, d.events`

/** By the places of the latest ones in their ring buffers, which are the numbers of requests. Throws parameterInvalid (offset). */
export async function selectRequests(
  sql: AnySql,
  id: number,
  { limit, offset = 0, failed = false }: RequestPage,
): Promise<WebhookDelivery[]> {
  if (offset > MAX_OFFSET) throw invalidParameter('offset', `must be at most ${MAX_OFFSET}`)
  const most = offset + limit
  return sql<WebhookDelivery[]>`
    with latest as materialized (
      select (w.succeeded - n) % ${RING} as place from webhooks w, generate_series(0, ${most - 1}) n
       where w.id = ${id} and n < w.succeeded and not ${failed}
      union all
      select ${RING} + (w.failed - n) % ${RING} from webhooks w, generate_series(0, ${most - 1}) n where w.id = ${id} and n < w.failed
    )
    select ${columns(sql)} from latest l join webhook_deliveries d on d.webhook_id = ${id} and d.place = l.place
     where d.at > service_now() - make_interval(days => ${RETENTION_DAYS}) order by d.at desc, d.place limit ${limit} offset ${offset}`
}

/** The request that ended in this microsecond, by the index of times. */
export async function selectRequest(
  sql: AnySql,
  { webhookId, id }: { readonly webhookId: number; readonly id: number },
): Promise<StoredRequest | undefined> {
  const [row] = await sql<StoredRequest[]>`
    select ${columns(sql)}, d.account_id as "accountId", d.types, d.written, d.request_head as head, d.answer_head as "answerHead", d.answer,
           b.state as "batchState",
           case when b.state = 'waiting' then case when w.failing_since is null then b.next_at else w.due_at end end as "nextTryAt"
      from webhook_deliveries d join webhooks w on w.id = d.webhook_id left join webhook_batches b on b.id = d.batch_id
     where d.webhook_id = ${webhookId} and d.at = 'epoch'::timestamptz + ${id}::float8 * interval '1 microsecond'
       and d.at > service_now() - make_interval(days => ${RETENTION_DAYS})
     limit 1`
  return row
}
