import { schemaVersion } from './migrations/migration-files.ts'

/** The version in a session's name, as a POSIX pattern. */
export const PROGRAM_VERSION = ' v([0-9]+)$'
/** The last version whose sessions did not state it. */
export const LAST_WITHOUT_VERSION = 78

/**
 * Returns the application_name of a program's sessions: "postrider api v79". By the version, the number of its last migration, a newer
 * version sees whether an older one still runs. A process that knows several keys has the mark of its SECRET_KEY before it (key-rotation.ts).
 */
export function sessionName(program: string, keyMark?: string): string {
  return ['postrider', program, ...(keyMark ? [keyMark] : []), `v${schemaVersion()}`].join(' ')
}
