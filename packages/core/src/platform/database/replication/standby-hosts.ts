import { onlyRow, openAlike, type Sql } from '../database.ts'
import { withDeadline } from '../deadlines.ts'

/** A host of a pool that accepts writes. */
export interface PrimaryHost {
  /** With its port. */
  readonly address: string
  /** Rises with each promotion. */
  readonly timeline: number
}

/**
 * Returns the hosts of a pool that respond, but are standbys. With target_session_attrs=primary the pool connects to none of them, and its
 * errors read as if they did not respond.
 */
export async function findStandbyHosts(sql: Sql): Promise<string[]> {
  if (sql.options.target_session_attrs !== 'primary') return []
  return (await askHosts(sql)).flatMap(({ host, isStandby }) => (isStandby ? [host] : []))
}

/**
 * Returns the hosts of a pool that accept writes, the one that was promoted last first. More than one means that a server that was replaced has
 * come back as a primary: new connections may go to either.
 */
export async function findPrimaryHosts(sql: Sql): Promise<PrimaryHost[]> {
  const found = (await askHosts(sql)).flatMap(({ host, port, timeline }) =>
    timeline === null ? [] : [{ address: `${host}:${port}`, timeline }],
  )
  return found.toSorted((a, b) => b.timeline - a.timeline)
}

interface HostState {
  readonly host: string
  readonly port: number
  readonly isStandby: boolean
  /** Null of a standby. */
  readonly timeline: number | null
}

/** The hosts that respond. */
async function askHosts(sql: Sql): Promise<HostState[]> {
  const { host: hosts, port: ports } = sql.options
  return (await Promise.all(hosts.map((host, at) => askHost(sql, host, ports[at] as number)))).flat()
}

async function askHost(sql: Sql, host: string, port: number): Promise<HostState[]> {
  const options = {
    host: [host],
    port: [port],
    max: 1,
    target_session_attrs: undefined,
  }
  const session = openAlike(sql, options)
  try {
    const rows = await withDeadline(session, 'mail')<{ isStandby: boolean; timeline: number | null }[]>`
      select pg_is_in_recovery() as "isStandby",
             case when not pg_is_in_recovery() then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`
    return [{ host, port, ...onlyRow(rows) }]
  } catch {
    return []
  } finally {
    await session.end({ timeout: 0 })
  }
}
