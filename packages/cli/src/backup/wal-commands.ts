import { fileURLToPath } from 'node:url'
import { ARCHIVED } from './wal-segments.ts'

/** Seconds after which a segment of the write-ahead log is archived although it is not full: less than the 60 that are promised, since the copy takes time, too. */
const ARCHIVE_SECONDS = 50

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

/** The libraries of the embedded Postgres are not for Node. */
function commandLine(program: string): string {
  return `LD_LIBRARY_PATH= ${quoted(process.execPath)} ${quoted(fileURLToPath(new URL(program, import.meta.url)))}`
}

/** For the shell, and for Postgres, which replaces %p and %f. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`
}
