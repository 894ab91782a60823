import { dirname, join } from 'node:path'
import { type BackupStore, backupName, openSession, type Sql, summaryPath, withDeadline } from '@postrider/core'
import { CommandError } from '../command.ts'
import { backupIdOf, clusterOf, readPassword } from '../embedded-postgres/cluster.ts'
import type { Progress } from '../importing/progress.ts'
import { type BaseBackup, mark, PARTS, prepareStore } from './base-backup.ts'
import { listTree } from './list-tree.ts'
import { Packer, piecesOf } from './pack.ts'
import { removeAll, removeUnfinished } from './prune.ts'
import { segmentName, segmentNamed } from './wal-segments.ts'

export interface TakeBackupOptions {
  /** A pool on the embedded database, which must run. */
  readonly sql: Sql
  readonly dataDir: string
  readonly store: BackupStore
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
 * Stores the files of the running database, and the write-ahead log that makes them consistent. When it returns, everything is durable. A
 * backup that does not succeed leaves nothing that could be taken for one.
 *
 * Throws {@link CommandError} if another backup is running, or if the store belongs to another database.
 */
export async function takeBackup(options: TakeBackupOptions): Promise<BaseBackup> {
  const session = withDeadline(openSession(options.sql), 'long')
  try {
    await session`select set_config('statement_timeout', '0', false)`
    const [state] = await session<[{ locked: boolean; spaces: number }]>`
      select pg_try_advisory_lock(${LOCK}) as locked,
             (select count(*)::int from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as spaces`
    if (!state.locked) throw new CommandError('another backup of this database is running')
    if (state.spaces > 0)
      throw new CommandError('the database has tablespaces of its own, which a backup would not contain')
    const database = backupIdOf(options.dataDir)
    await prepareStore(options.store, database)
    await mark(options.store, database)
    await removeUnfinished(options.store)
    return await writeBackup(session, options)
  } finally {
    // Ends a backup that has failed on the server, too.
    await session.end({ timeout: 5 })
  }
}

async function writeBackup(session: Sql, options: TakeBackupOptions): Promise<BaseBackup> {
  const { store, dataDir, secretKey, progress } = options
  const cluster = clusterOf(dataDir)
  const from = await startOnServer(session)
  const name = backupName(from.at.toISOString())
  if (await store.read(summaryPath(name))) throw new CommandError(`there already is a base backup ${name}; repeat this`)
  let done = 0
  const packer = new Packer(store, name, (count) => {
    done += count
    progress.show('MB stored', Math.round(done / MB))
  })
  try {
    const tree = await listTree(cluster, isLeftOut)
    // Files of tables that were dropped meanwhile are not missing.
    for (const path of [...tree.files.filter((path) => path !== CONTROL_FILE), CONTROL_FILE])
      await packer.addFile(join(PARTS.cluster, path), join(cluster, path))
    const stopped = await stopOnServer(session)
    await packer.addText(join(PARTS.cluster, 'backup_label'), stopped.label)
    for (const path of segmentsBetween(from.segment, stopped.segment)) {
      if (!(await packer.addFile(join(PARTS.cluster, path), join(cluster, path))))
        throw new CommandError(`the write-ahead log of the backup is incomplete: ${path} is missing`)
    }
    await packer.addText(PARTS.password, `${readPassword(dataDir)}\n`)
    if (secretKey !== undefined) await packer.addText(PARTS.secretKey, `${secretKey}\n`)
    const folders = ['', ...tree.folders, ...NEEDED].map((path) => join(PARTS.cluster, path))
    const summary: Omit<BaseBackup, 'name'> = {
      serverVersion: from.serverVersion,
      startedAt: from.at.toISOString(),
      finishedAt: stopped.at.toISOString(),
      firstSegment: from.segment,
      lastSegment: stopped.segment,
      endsAt: stopped.position,
      ...(await packer.end(folders)),
      hasSecretKey: secretKey !== undefined,
    }
    await store.write(summaryPath(name), Buffer.from(`${JSON.stringify(summary, undefined, 2)}\n`))
    return { ...summary, name }
  } catch (error) {
    await packer.abandon()
    // If this fails, the next backup does it.
    await store
      .list(piecesOf(name))
      .then((paths) => removeAll(store, paths))
      .catch(() => {})
    throw error
  } finally {
    progress.end()
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

function isLeftOut(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    LEFT_OUT.includes(path) ||
    EMPTIED.includes(dirname(path)) ||
    name.startsWith('pgsql_tmp') ||
    name.startsWith('pg_internal.init')
  )
}
