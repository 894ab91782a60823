import type { AnySql, SqlTransaction } from '../../platform/database/database.ts'
import type { DeadBatch, Webhook, WebhookSettings } from './webhook.ts'

/** A stored row, whose headers are encrypted. */
export interface Row extends Omit<Webhook, 'headers'> {
  readonly headers: Buffer
}

export interface SealedKeys {
  readonly secret: Buffer
  /** Null if there is none or its grace period is over. */
  readonly formerSecret: Buffer | null
  readonly signingKey: Buffer
}

const columns = (sql: AnySql) => sql`
  id, account_id as "accountId", url, events, names, domains, tags, label, signed, format, as_text as "asText", abuse, event_ids as "eventIds",
  headers, enabled,
  public_key as "publicKey", created_at as "createdAt", changed_at as "changedAt", position::float8 as position, succeeded_at as "succeededAt",
  failing_since as "failingSince", disabled_at as "disabledAt", problem, disabled_reason as "disabledReason",
  case when enabled and failing_since is not null then due_at end as "nextTryAt"`

/** Requests of a webhook that are stored, those that succeeded in one ring buffer and those that failed in the next one; and for how long. */
export const RING = 100_000
export const RETENTION_DAYS = 7

function listIn(texts: readonly string[] | null | undefined): string[] | null {
  return texts ? [...texts] : null
}

export type NewRow = Omit<WebhookSettings, 'headers'> & {
  readonly accountId: number
  readonly headers: Buffer
  readonly secret: Buffer
  readonly signingKey: Buffer
  readonly publicKey: string
}

/** Inserts a webhook that begins after the account's last event. It is due immediately, because new events may be committing. */
export async function insertWebhook(sql: AnySql, row: NewRow): Promise<Row> {
  const [made] = await sql<Row[]>`
    insert into webhooks (account_id, url, events, names, domains, tags, label, signed, format, as_text, abuse, event_ids, headers,
           secret, signing_key, public_key,
           enabled, due_at, position)
    select ${row.accountId}, ${row.url}, ${[...row.events]}::text[], ${listIn(row.names)}::text[], ${listIn(row.domains)}::text[],
    ${listIn(row.tags)}::text[], ${row.label}, ${row.signed}, ${row.format},
    ${row.asText}, ${row.abuse}, ${row.eventIds},
           ${row.headers}, ${row.secret}, ${row.signingKey}, ${row.publicKey}, ${row.enabled}, service_now(),
           coalesce((select first_number + count - 1 from event_pages where account_id = ${row.accountId}
                      order by first_number desc limit 1), 0)
    returning ${columns(sql)}`
  return made as Row
}

/** Updates the settings. With `revived` all failures are reset. */
export async function updateWebhook(
  sql: AnySql,
  id: number,
  row: Omit<WebhookSettings, 'headers'> & { readonly headers: Buffer; readonly revived: boolean },
): Promise<Row> {
  const [changed] = await sql<Row[]>`
    update webhooks
       set url = ${row.url}, events = ${[...row.events]}::text[], names = ${listIn(row.names)}::text[],
           domains = ${listIn(row.domains)}::text[], tags = ${listIn(row.tags)}::text[], label = ${row.label},
           signed = ${row.signed}, changed_at = service_now(), format = ${row.format}, as_text = ${row.asText},
           abuse = ${row.abuse}, event_ids = ${row.eventIds}, headers = ${row.headers}, enabled = ${row.enabled},
           disabled_at = case when ${row.enabled} then null else disabled_at end,
           disabled_reason = case when ${row.enabled} then null else disabled_reason end,
           failing_since = case when ${row.revived} then null else failing_since end,
           problem = case when ${row.revived} then null else problem end,
           held_until = case when ${row.revived} then null else held_until end,
           due_at = service_now()
     where id = ${id} returning ${columns(sql)}`
  if (row.revived)
    await sql`
      update webhook_batches set next_at = service_now(), failed_since = null
       where webhook_id = ${id} and state = 'waiting'`
  return changed as Row
}

export async function selectWebhook(sql: AnySql, accountId: number, id: number): Promise<Row | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} from webhooks where id = ${id} and account_id = ${accountId}`
  return row
}

export async function lockWebhook(sql: SqlTransaction, accountId: number, id: number): Promise<Row | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from webhooks where id = ${id} and account_id = ${accountId} for update`
  return row
}

export async function selectWebhooks(sql: AnySql, accountId: number): Promise<Row[]> {
  return sql<Row[]>`select ${columns(sql)} from webhooks where account_id = ${accountId} order by id`
}

/** Returns the number of webhooks and prevents others from being added until the transaction ends. */
export async function countLocked(sql: SqlTransaction, accountId: number): Promise<number> {
  await sql`select 1 from accounts where id = ${accountId} for no key update`
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhooks where account_id = ${accountId}`
  return row?.count ?? 0
}

export async function deleteWebhook(sql: AnySql, id: number): Promise<void> {
  await sql`delete from webhook_batches where webhook_id = ${id}`
  await sql`delete from webhook_deliveries where webhook_id = ${id}`
  await sql`delete from webhooks where id = ${id}`
}

export async function selectKeys(sql: AnySql, id: number): Promise<SealedKeys | undefined> {
  const [row] = await sql<SealedKeys[]>`
    select secret, case when former_until > service_now() then former_secret end as "formerSecret",
           signing_key as "signingKey" from webhooks where id = ${id}`
  return row
}

export async function replaceSecret(sql: AnySql, id: number, secret: Buffer, overlapHours: number): Promise<void> {
  await sql`
    update webhooks set former_secret = secret, former_until = service_now() + make_interval(hours => ${overlapHours}::int),
           secret = ${secret} where id = ${id}`
}

export async function movePosition(sql: AnySql, id: number, position: number): Promise<void> {
  await sql`update webhooks set position = ${position}, due_at = service_now() where id = ${id}`
}

export async function selectDead(
  sql: AnySql,
  id: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ batches: DeadBatch[]; total: number }> {
  const [counted] = await sql<{ total: number }[]>`
    select count(*)::int as total from webhook_batches where webhook_id = ${id} and state = 'dead'`
  const batches = await sql<DeadBatch[]>`
    select id, after_number::float8 as "after", to_number::float8 as "to", attempts, failed_since as "failedSince",
           failed_at as "failedAt", problem
      from webhook_batches where webhook_id = ${id} and state = 'dead'
     order by failed_at desc, id limit ${limit} offset ${offset}`
  return { batches, total: counted?.total ?? 0 }
}

/** Retries dead-lettered batches separately from others; all, or the one with this id. Returns their number. */
export async function reviveDead(sql: AnySql, id: number, batchId: string | undefined): Promise<number> {
  const rows = await sql`
    update webhook_batches
       set state = 'waiting', aside = true, attempts = 0, failed_since = null, failed_at = null, next_at = service_now()
     where webhook_id = ${id} and state = 'dead' and (${batchId === undefined} or id = ${batchId ?? null}::uuid)
    returning 1`
  await sql`update webhooks set due_at = service_now() where id = ${id}`
  return rows.length
}
