import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError } from '../command.ts'
import { ARCHIVED } from './wal-segments.ts'

/** Seconds after which a segment of the write-ahead log is archived although it is not full: what a loss of the disk costs at most. */
const ARCHIVE_SECONDS = 60

/** Settings of a server that archives its write-ahead log in this folder. */
export function archiveSettings(walFolder: string): string[] {
  return [
    'archive_mode=on',
    `archive_timeout=${ARCHIVE_SECONDS}s`,
    `archive_command=${commandLine('archive-wal.ts')} %p ${quoted(walFolder)}/%f${ARCHIVED}`,
  ]
}

/** The setting of a server that recovers with the write-ahead log in this folder. */
export function restoreSetting(walFolder: string): string {
  return `restore_command=${commandLine('fetch-wal.ts')} ${quoted(walFolder)}/%f${ARCHIVED} %p`
}

/**
 * Archives the histories of timelines that the cluster has. The server itself archives one only if it archived when the timeline began, and a
 * restored database does not; without it, later restores would not find the timeline.
 */
export function archiveHistories(cluster: string, walFolder: string): void {
  for (const name of readdirSync(join(cluster, 'pg_wal'))) {
    if (!name.endsWith('.history')) continue
    const program = fileURLToPath(new URL('archive-wal.ts', import.meta.url))
    const args = [program, join(cluster, 'pg_wal', name), join(walFolder, `${name}${ARCHIVED}`)]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) throw new CommandError(`could not archive the history of the database: ${stderr.trim()}`)
  }
}

/** The libraries of the embedded Postgres are not for Node. */
function commandLine(program: string): string {
  return `LD_LIBRARY_PATH= ${quoted(process.execPath)} ${quoted(fileURLToPath(new URL(program, import.meta.url)))}`
}

/** For the shell, and for Postgres, which replaces %p and %f. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`
}
