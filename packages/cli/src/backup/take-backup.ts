import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backupName, openSession, type Sql, syncFolder, within, writeOnce } from '@postrider/core'
import { CommandError } from '../command.ts'
import { backupIdOf, clusterOf, readPassword } from '../embedded-postgres/index.ts'
import type { Progress } from '../importing/progress.ts'
import { type CopiedFile, copyFile, listTree, makeFolders, type Tree } from './copy-tree.ts'
import { type BackupFolder, type BaseBackup, PARTS, prepareFolder, UNFINISHED } from './folder.ts'
import { segmentName, segmentNamed } from './wal-segments.ts'

export interface TakeBackupOptions {
  /** A pool on the embedded database, which must run. */
  readonly sql: Sql
  readonly dataDir: string
  /** The backup folder. */
  readonly to: string
  /** Stored in the backup if given. */
  readonly secretKey?: string | undefined
  readonly progress: Progress
}

/** One backup of a database at a time. */
const LOCK = 7742
const MB = 2 ** 20

/** Contents that a server makes again when it starts; their folders are needed. `pg_wal` is copied after all other files. */
const EMPTIED = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]
/** Files of the running server. */
const LEFT_OUT = [
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'tablespace_map',
  'current_logfiles',
  'backup_manifest',
]
/** Folders that a server does not make itself. */
const NEEDED = ['pg_wal/archive_status', 'pg_wal/summaries']
/** Copied last: recovery begins where it says. */
const CONTROL_FILE = 'global/pg_control'

/**
 * Copies the files of the running database, and the write-ahead log that makes the copy consistent, to a new folder of the backup
 * folder. When it returns, everything is synced. A backup that does not succeed leaves no folder that could be taken for one.
 *
 * Throws {@link CommandError} if another backup is running, or if the folder belongs to another database.
 */
export async function takeBackup(options: TakeBackupOptions): Promise<BaseBackup> {
  const session = within(openSession(options.sql), 'long')
  try {
    await session`select set_config('statement_timeout', '0', false)`
    const [state] = await session<[{ locked: boolean; spaces: number }]>`
      select pg_try_advisory_lock(${LOCK}) as locked,
             (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as spaces`
    if (!state.locked) throw new CommandError('another backup of this database is running')
    if (state.spaces > 0)
      throw new CommandError('the database has tablespaces of its own, which a backup would not contain')
    const folder = prepareFolder(options.to, backupIdOf(options.dataDir))
    await removeUnfinished(folder)
    return await writeBackup(session, folder, options)
  } finally {
    // Ends a backup that has failed on the server, too.
    await session.end({ timeout: 5 })
  }
}

async function writeBackup(session: Sql, folder: BackupFolder, options: TakeBackupOptions): Promise<BaseBackup> {
  const { dataDir, secretKey, progress } = options
  const cluster = clusterOf(dataDir)
  const unfinished = join(folder.base, `${UNFINISHED}${process.pid}`)
  const target = join(unfinished, PARTS.cluster)
  try {
    await mkdir(target, { recursive: true, mode: 0o700 })
    const from = await startOnServer(session)
    const tree = await listTree(cluster, isLeftOut)
    await makeFolders(target, [...tree.folders, ...NEEDED])
    const order = [...tree.files.filter((path) => path !== CONTROL_FILE), CONTROL_FILE]
    const files = await copyAll({ from: cluster, to: target, paths: order, progress })
    const stopped = await stopOnServer(session)
    writeOnce(join(target, 'backup_label'), stopped.label)
    const segments = segmentsBetween(from.segment, stopped.segment)
    const wal = await copyAll({ from: cluster, to: target, paths: segments, progress, required: true })
    writeOnce(join(unfinished, PARTS.password), `${readPassword(dataDir)}\n`)
    if (secretKey !== undefined) writeOnce(join(unfinished, PARTS.secretKey), `${secretKey}\n`)
    const all = [...files, ...wal, digestOfText('backup_label', stopped.label)]
    const list = `${JSON.stringify(all)}\n`
    writeOnce(join(unfinished, PARTS.files), list)
    const summary: Omit<BaseBackup, 'name' | 'folder'> = {
      serverVersion: from.serverVersion,
      startedAt: from.at.toISOString(),
      finishedAt: stopped.at.toISOString(),
      firstSegment: from.segment,
      lastSegment: stopped.segment,
      endsAt: stopped.position,
      files: all.length,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      filesDigest: createHash('sha256').update(list).digest('hex'),
      hasSecretKey: secretKey !== undefined,
    }
    writeOnce(join(unfinished, PARTS.summary), `${JSON.stringify(summary, undefined, 2)}\n`)
    syncFolders(unfinished, { folders: [...tree.folders, ...NEEDED], files: [] })
    return await finish(folder, unfinished, summary)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  } finally {
    progress.end()
  }
}

/** Gives the backup its name. Throws if there is a backup with that name: a folder with files is not replaced. */
async function finish(
  { base }: BackupFolder,
  unfinished: string,
  summary: Omit<BaseBackup, 'name' | 'folder'>,
): Promise<BaseBackup> {
  const name = backupName(summary.startedAt)
  const folder = join(base, name)
  await rename(unfinished, folder)
  syncFolder(base)
  return { ...summary, name, folder }
}

/** A backup that was interrupted, or one whose deletion was. The caller holds the lock, so none of them is in progress. */
async function removeUnfinished({ base }: BackupFolder): Promise<void> {
  for (const name of await readdir(base)) {
    if (name.startsWith(UNFINISHED)) await rm(join(base, name), { recursive: true, force: true })
  }
}

interface Started {
  readonly serverVersion: string
  readonly at: Date
  readonly segment: string
}

/** The slot keeps the write-ahead log from here on until the session ends, however long the copy takes. */
async function startOnServer(session: Sql): Promise<Started> {
  await session`select pg_create_physical_replication_slot(${`postrider_backup_${process.pid}`}, true, true)`
  const [started] = await session<[Started]>`
    select pg_walfile_name(position) as segment, clock_timestamp() as at, current_setting('server_version') as "serverVersion"
      from pg_backup_start('postrider', true) as position`
  return started
}

/** `position` is the end of the backup. Its segment is complete, because the server switches to the next one. */
async function stopOnServer(session: Sql) {
  const [stopped] = await session<[{ label: string; at: Date; segment: string; position: string }]>`
    select s.labelfile as label, clock_timestamp() as at, s.lsn::text as position, pg_walfile_name(s.lsn - 1) as segment
      from pg_backup_stop(false) s`
  return stopped
}

function segmentsBetween(first: string, last: string): string[] {
  const [from, to] = [segmentNamed(first), segmentNamed(last)]
  if (!from || !to) throw new Error(`unexpected names of segments: ${first}, ${last}`)
  return Array.from({ length: to.number - from.number + 1 }, (_, at) =>
    join('pg_wal', segmentName({ timeline: from.timeline, number: from.number + at })),
  )
}

interface CopyAllOptions {
  readonly from: string
  readonly to: string
  readonly paths: readonly string[]
  readonly progress: Progress
  /** Whether a file that does not exist is an error. Files of tables that were dropped meanwhile are not missing. */
  readonly required?: boolean
}

async function copyAll({ from, to, paths, progress, required = false }: CopyAllOptions): Promise<CopiedFile[]> {
  const copied: CopiedFile[] = []
  let bytes = 0
  for (const path of paths) {
    const file = await copyFile(join(from, path), join(to, path), (count) => {
      bytes += count
      progress.show('MB copied', Math.round(bytes / MB))
    })
    if (file) copied.push({ path, ...file })
    else if (required) throw new CommandError(`the write-ahead log of the backup is incomplete: ${path} is missing`)
  }
  return copied
}

function isLeftOut(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    LEFT_OUT.includes(path) ||
    EMPTIED.includes(dirname(path)) ||
    name.startsWith('pgsql_tmp') ||
    name.startsWith('pg_internal.init')
  )
}

function digestOfText(path: string, text: string): CopiedFile {
  return { path, bytes: Buffer.byteLength(text), digest: createHash('sha256').update(text).digest('hex') }
}

function syncFolders(unfinished: string, { folders }: Tree): void {
  for (const path of folders.toReversed()) syncFolder(join(unfinished, PARTS.cluster, path))
  syncFolder(join(unfinished, PARTS.cluster))
  syncFolder(unfinished)
}
