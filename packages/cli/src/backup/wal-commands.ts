import { fileURLToPath } from 'node:url'
import type { BackupAccess } from '@postrider/core'
import { ACCESS_VARIABLE } from './wal-program.ts'

/**
 * Seconds after which a segment of the write-ahead log is archived although it is not full: less than the 60 that are promised, since the copy takes time, too.
 */
const ARCHIVE_SECONDS = 50

/** Settings of a server that archives its write-ahead log. Its environment needs {@link accessEnvironment}. */
export function archiveSettings(): string[] {
  return [
    'archive_mode=on',
    `archive_timeout=${ARCHIVE_SECONDS}s`,
    `archive_command=${commandLine('archive-wal.ts')} %p %f`,
  ]
}

/** The setting of a server that recovers with the archived write-ahead log. Its environment needs {@link accessEnvironment}. */
export function restoreSetting(): string {
  return `restore_command=${commandLine('fetch-wal.ts')} %f %p`
}

/** In the environment, since command lines can be read by every user of the host. */
export function accessEnvironment(access: BackupAccess): NodeJS.ProcessEnv {
  return { [ACCESS_VARIABLE]: JSON.stringify(access) }
}

/** The libraries of the embedded Postgres are not for Node. */
function commandLine(program: string): string {
  return `LD_LIBRARY_PATH= ${quoted(process.execPath)} ${quoted(fileURLToPath(new URL(program, import.meta.url)))}`
}

/** For the shell, and for Postgres, which replaces %p and %f. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`
}
