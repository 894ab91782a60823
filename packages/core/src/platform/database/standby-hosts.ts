import postgres from 'postgres'
import { onlyRow, type Sql } from './database.ts'
import { within } from './deadlines.ts'

/** Seconds for a connection to a host. */
const CONNECT_TIMEOUT = 3

/**
 * Returns the hosts of a pool that respond, but are standbys. With target_session_attrs=primary the pool connects to none of them, and its
 * errors read as if they did not respond.
 */
export async function findStandbyHosts(sql: Sql): Promise<string[]> {
  const { host: hosts, port: ports, target_session_attrs: wanted } = sql.options
  if (wanted !== 'primary') return []
  const found = await Promise.all(
    hosts.map(async (host, at) => ((await isStandby(sql, host, ports[at] as number)) ? [host] : [])),
  )
  return found.flat()
}

async function isStandby(sql: Sql, host: string, port: number): Promise<boolean> {
  const options = { ...sql.options, host: [host], port: [port], max: 1 }
  const session = postgres({ ...options, connect_timeout: CONNECT_TIMEOUT, target_session_attrs: undefined } as object)
  try {
    const rows = await within(session, 'mail')<{ standby: boolean }[]>`select pg_is_in_recovery() as standby`
    return onlyRow(rows).standby
  } catch {
    return false
  } finally {
    await session.end({ timeout: 0 })
  }
}
