import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { AnySql } from '../database/database.ts'
import { programBuild } from './program-version.ts'

/** A process of this installation. */
export interface ListedProcess {
  readonly program: string
  readonly host: string
  readonly pid: number
  readonly version: string
  /** Bytes of the resident set. */
  readonly memory: number
  readonly startedAt: Date
  /** When it last said that it runs. */
  readonly seenAt: Date
  /** Whether it said so within three minutes. */
  readonly alive: boolean
}

/** A process's own row of the list. */
export interface ProcessReport {
  /** Says that the process runs. Called every minute. */
  report(): Promise<void>
  /** Removes the row. */
  end(): Promise<void>
}

/** Maximum number of processes that are listed. */
const MAX_LISTED = 500
/** A host name has at most 253 characters (RFC 1035 2.3.4). */
const MAX_HOST = 253

/** A process says that it runs by the world's time, as a clock that was moved makes no process silent. */
export function createProcessReport(sql: AnySql, program: string): ProcessReport {
  const id = randomUUID()
  return {
    async report() {
      const { version } = programBuild()
      await sql`
        with gone as (delete from processes where seen_at < clock_timestamp() - interval '1 hour')
        insert into processes (id, program, host, pid, version, memory, seen_at)
        values (${id}::uuid, ${program}, ${hostname().slice(0, MAX_HOST)}, ${process.pid}, ${version}, ${process.memoryUsage.rss()}::bigint,
          clock_timestamp())
        on conflict (id) do update set memory = excluded.memory, seen_at = excluded.seen_at`
    },
    async end() {
      await sql`delete from processes where id = ${id}::uuid`
    },
  }
}

/** Returns the processes of all hosts, by program. */
export async function listProcesses(sql: AnySql): Promise<ListedProcess[]> {
  return sql<ListedProcess[]>`
    select program, host, pid, version, memory::float8 as memory, started_at as "startedAt",
           service_now() - (clock_timestamp() - seen_at) as "seenAt",
           seen_at > clock_timestamp() - interval '3 minutes' as alive
      from processes order by program, host, started_at limit ${MAX_LISTED}`
}
