import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { networkOf } from '../../platform/net/networks.ts'

/** Days after the latest log-in from a network for which the user is known there. */
const DAYS = 90
/** Networks that are kept of a user; the oldest make room. */
const MAX_PER_USER = 50

/** Whether the user has logged in from this network. */
export async function isKnownNetwork(sql: AnySql, userId: number, address: string): Promise<boolean> {
  return onlyRow(
    await sql<{ known: boolean }[]>`
      select exists (select from known_networks where user_id = ${userId} and network = ${networkOf(address)}::cidr) as known`,
  ).known
}

/** Notes a log-in. */
export async function keepNetwork(sql: AnySql, userId: number, address: string): Promise<void> {
  await sql`
    insert into known_networks (user_id, network) values (${userId}, ${networkOf(address)}::cidr)
    on conflict (user_id, network) do update set seen_at = excluded.seen_at`
  await sql`
    delete from known_networks where user_id = ${userId} and network in (
      select network from known_networks where user_id = ${userId} order by seen_at desc, network offset ${MAX_PER_USER})`
}

/** Deletes a batch of networks that are forgotten. Returns how many. */
export async function forgetNetworks(sql: AnySql): Promise<number> {
  const rows = await sql`
    delete from known_networks where (user_id, network) in (
      select user_id, network from known_networks where seen_at < service_now() - make_interval(days => ${DAYS}::int)
       order by seen_at limit 1000 for update skip locked)`
  return rows.count
}
