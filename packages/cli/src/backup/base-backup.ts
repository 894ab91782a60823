import { BackupError, type BackupStore, backupNames, summaryPath } from '@postrider/core'
import { CommandError } from '../command.ts'

/** The summary of a base backup, which is written when all else of it is stored. */
export interface BaseBackup {
  readonly name: string
  /** Of Postgres: "18.4". Only the same major version can read the files. */
  readonly serverVersion: string
  /** ISO 8601, by the database's clock. The backup cannot be restored to a moment before `finishedAt`. */
  readonly startedAt: string
  readonly finishedAt: string
  /** Names of the first and last segment of the write-ahead log that it needs; both are part of it. */
  readonly firstSegment: string
  readonly lastSegment: string
  /** Position at which it ended. */
  readonly endsAt: string
  readonly files: number
  readonly bytes: number
  /** Number of pieces that the contents of its files are divided into. */
  readonly pieces: number
  /** SHA-256 of the list of its files. */
  readonly filesDigest: string
  readonly hasSecretKey: boolean
}

/** Names in a base backup, which has the layout of a DATA_DIR. */
export const PARTS = { cluster: 'postgres', password: 'postgres-password', secretKey: 'secret-key' } as const

const MARKER = 'postrider-backup.json'
const FORMAT = 2

/** To whom the backups belong. */
interface Marker {
  readonly format: number
  readonly database: string
}

/**
 * Makes sure that the store is for the backups of this database.
 *
 * Throws {@link CommandError} if it has other files, or the backups of another database: the write-ahead logs of two databases have the
 * same names. `database` is its backupIdOf.
 */
export async function prepareStore(store: BackupStore, database: string): Promise<void> {
  const marker = await readMarker(store)
  if (marker) requireOwn(store, marker, database)
  else if (await store.isEmpty()) await mark(store, database)
  else throw new CommandError(`${store.name} is not empty and has no backups; name a new or empty folder or prefix`)
}

/** Writes again to whom the backups belong: with SECRET_KEY, if it was encrypted with SECRET_KEY_PREVIOUS. */
export async function mark(store: BackupStore, database: string): Promise<void> {
  await store.write(MARKER, Buffer.from(`${JSON.stringify({ format: FORMAT, database })}\n`))
}

/** Throws {@link CommandError} if there are no backups that this version can read. */
export async function requireBackups(store: BackupStore): Promise<void> {
  const marker = await readMarker(store)
  if (!marker) throw new CommandError(`${store.name} has no backups`)
  requireReadable(store, marker)
}

function requireOwn(store: BackupStore, marker: Marker, database: string): void {
  requireReadable(store, marker)
  if (marker.database !== database)
    throw new CommandError(
      `${store.name} has the backups of another database, which may be the one that this was restored from; name a new folder or prefix`,
    )
}

function requireReadable(store: BackupStore, marker: Marker): void {
  if (marker.format !== FORMAT)
    throw new CommandError(
      `the backups in ${store.name} were written by another version; name a new folder or prefix, and restore them with that version`,
    )
}

function readMarker(store: BackupStore): Promise<Marker | undefined> {
  return readJson(store, MARKER)
}

/** Returns the latest complete base backup for which `isWanted` holds. Reads none before it: they may be encrypted with former keys. */
export async function findBackup(
  store: BackupStore,
  isWanted: (backup: BaseBackup) => boolean = () => true,
  { skipsDamaged = false } = {},
): Promise<BaseBackup | undefined> {
  for (const name of (await backupNames(store)).toReversed()) {
    const backup = await readBackup(store, name).catch((error: unknown) => {
      if (skipsDamaged && error instanceof BackupError && error.kind === 'damaged') return undefined
      throw error
    })
    if (backup && isWanted(backup)) return backup
  }
  return undefined
}

/** Undefined if it was deleted meanwhile. */
export async function readBackup(store: BackupStore, name: string): Promise<BaseBackup | undefined> {
  const summary = await readJson<Omit<BaseBackup, 'name'>>(store, summaryPath(name))
  return summary && { ...summary, name }
}

async function readJson<T>(store: BackupStore, path: string): Promise<T | undefined> {
  const content = await store.read(path)
  if (!content) return undefined
  try {
    return JSON.parse(content.toString('utf8')) as T
  } catch {
    throw new BackupError('damaged', `${store.name}/${path} is damaged`)
  }
}
