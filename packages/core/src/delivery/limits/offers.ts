import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { RefusalMeaning } from '../outcomes/refusal-meaning.ts'

/** Minutes whose offers are judged together. */
const WINDOW_MINUTES = 10
/** Hashes of recipients kept per row: more than {@link judgeOffers} demands. */
export const MAX_REFUSED_RECIPIENTS = 20
/** Rows that are judged: of a destination that thousands of domains send to, the latest. 1,000 take 22 to 88 ms, 10,000 up to 433. */
const MAX_ROWS = 2000

/** Messages of a sending domain that were offered to a destination, and how many it refused for their sender. */
export interface Offers extends Readonly<Record<RefusalMeaning, number>> {
  readonly accountId: number
  readonly domainId: number
  readonly offered: number
  /** Hashes of recipients for whom mail was refused; some of them. */
  readonly recipients: readonly number[]
}

/** Adds what a worker has seen at a destination, and returns what all workers have seen there within ten minutes. */
export async function countOffers(sql: AnySql, place: string, offers: readonly Offers[]): Promise<Offers[]> {
  // In one order, so that two workers cannot wait for each other.
  const sorted = offers.toSorted((a, b) => a.accountId - b.accountId || a.domainId - b.domainId)
  await sql`
    insert into destination_offers as o (place, minute, account_id, domain_id, offered, service, message, authentication, recipients)
    select ${place}, date_trunc('minute', service_now()), "accountId", "domainId", offered, service, message, authentication, recipients
      from jsonb_to_recordset(${JSON.stringify(sorted)}::text::jsonb)
        as n ("accountId" int, "domainId" int, offered int, service int, message int, authentication int, recipients int[])
    on conflict (place, minute, account_id, domain_id) do update
       set offered = o.offered + excluded.offered, service = o.service + excluded.service, message = o.message + excluded.message,
           authentication = o.authentication + excluded.authentication,
           recipients = (excluded.recipients || o.recipients)[1:${MAX_REFUSED_RECIPIENTS}]`
  return sql<Offers[]>`
    select account_id as "accountId", domain_id as "domainId", offered, service, message, authentication, recipients
      from destination_offers
     where place = ${place} and minute > service_now() - make_interval(mins => ${WINDOW_MINUTES})
     order by minute desc limit ${MAX_ROWS}`
}

/** Forgets the offers of a destination, or those of one account there: what they led to is in effect. */
export async function forgetOffers(sql: AnySql, place: string, accountId: number | null): Promise<void> {
  await sql`
    delete from destination_offers where place = ${place} and (${accountId}::int is null or account_id = ${accountId}::int)`
}

/** Deletes offers that are too old to be judged. Returns the number of rows. */
export async function forgetOldOffers(sql: Sql): Promise<number> {
  return (await sql`delete from destination_offers where minute < service_now() - interval '1 hour'`).count
}
