import { type AnySql, onlyRow } from '../../platform/database/database.ts'

/** A webhook whose receiver does not take its events. */
export interface TroubledWebhook {
  readonly id: number
  readonly accountId: number
}

export interface TroubledWebhooks {
  readonly enabled: number
  /** Those that are retried, those that were disabled because they failed for too long, and those with dead-lettered batches. */
  readonly failing: number
  readonly disabled: number
  readonly dead: number
  /** The first five of them. */
  readonly first: readonly TroubledWebhook[]
}

/** One index probe per webhook, however many batches they have. URLs are left out, since they may contain secrets. */
export async function readTroubledWebhooks(sql: AnySql): Promise<TroubledWebhooks> {
  return onlyRow(
    await sql<TroubledWebhooks[]>`
      with seen as materialized (
        select w.id, w.account_id, w.enabled, w.enabled and w.failing_since is not null as failing,
               not w.enabled and w.disabled_at is not null as disabled,
               exists (select from webhook_batches b where b.webhook_id = w.id and b.state = 'dead') as dead
          from webhooks w
      )
      select count(*) filter (where enabled)::int as enabled, count(*) filter (where failing)::int as failing,
             count(*) filter (where disabled)::int as disabled, count(*) filter (where dead)::int as dead,
             coalesce((select json_agg(json_build_object('id', f.id, 'accountId', f.account_id))
                         from (select id, account_id from seen where failing or disabled or dead order by id limit 5) f), '[]') as first
        from seen`,
  )
}
