import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type BackupAddress,
  BackupError,
  backupAccess,
  ConfigError,
  commandLines,
  embeddedUrlFile,
  PATIENCE,
} from '@postrider/core'
import { prepareStore } from './backup/base-backup.ts'
import { withBackups } from './backup/open-backups.ts'
import { accessEnvironment, archiveSettings } from './backup/wal-commands.ts'
import { CommandError } from './command.ts'
import { findBinaries } from './embedded-postgres/binaries.ts'
import { backupIdOf, clusterOf, ensureCluster, readPassword } from './embedded-postgres/cluster.ts'
import { makeDataDir } from './embedded-postgres/data-folder.ts'
import { freePort } from './embedded-postgres/free-port.ts'
import { asOrdinaryUser } from './embedded-postgres/ordinary-user.ts'
import { type Owner, type Role, takeLock } from './embedded-postgres/owner.ts'
import { disownPidFile, endLeftOver, postmasterOf } from './embedded-postgres/postmaster.ts'
import { readText } from './embedded-postgres/read-text.ts'
import { Server } from './embedded-postgres/server.ts'
import { SERVER_SETTINGS } from './embedded-postgres/settings.ts'

/**
 * Postgres from the binaries of an npm package, run as a child of this process: created by initdb on first use, restarted when it
 * dies, stopped with this process. If another process of this DATA_DIR already runs it, this process connects to that one.
 */
export interface EmbeddedPostgres {
  readonly url: string
  /** False: another process owns the server, and stop() leaves it running. */
  readonly owned: boolean
  /** Stops the server (fast shutdown) and deletes the file with its URL. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  /** `up` needs a server of its own: one it connected to would stop with its owner. Default: command. */
  readonly role?: Role
  /** Called with one line per notable event. */
  readonly report?: (line: string) => void
  /** Further `name=value` settings; used by tests. */
  readonly settings?: readonly string[]
  /** The backups in which every start of the server archives its changes: a start without them leaves a gap. */
  readonly backups?: BackupAddress | undefined
  /** Aborts the wait, which then throws the signal's reason. */
  readonly signal?: AbortSignal
}

/** How long a command waits for another process to start the database, and if the disk is full. */
const COMMAND_WAIT_MS = 60_000
const FULL_WAIT_MS = 5000
/** Minimum free bytes; Postgres needs a WAL segment to start. */
const MIN_FREE_BYTES = 16 * 1024 * 1024

/**
 * Throws a {@link CommandError} that says what to do if there is no binary for this platform, if another `up` uses this DATA_DIR,
 * if its disk is full, or if the server does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, signal } = options
  let release: (() => void) | undefined
  try {
    makeDataDir(dataDir)
    const got = await lockOrAttach(options)
    if ('url' in got) return { url: got.url, owned: false, stop: async () => {} }
    release = got.release
    return await startOwn(options, release)
  } catch (error) {
    release?.()
    const full =
      (error as NodeJS.ErrnoException).code === 'ENOSPC' || (release && !signal?.aborted && !hasSpace(dataDir))
    if (!full) throw fileProblem(error, dataDir) ?? error
    throw new CommandError(`the disk of DATA_DIR (${dataDir}) is full; free space on it, then start again`)
  }
}

/** The error if this user cannot use a file in DATA_DIR. */
function fileProblem(error: unknown, dataDir: string): ConfigError | undefined {
  const { code = '', path = '' } = error as NodeJS.ErrnoException
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code) || !path.startsWith(dataDir)) return undefined
  return new ConfigError(
    'DATA_DIR',
    `has a file that this user cannot use (${path}: ${code}): run Postrider as the user whose data it is, or give the folder to this user (chown -R)`,
  )
}

/** Takes the lock or finds the URL of the running database; waits while neither succeeds. */
async function lockOrAttach(options: EmbeddedPostgresOptions): Promise<{ release: () => void } | { url: string }> {
  const { dataDir, role = 'command', report = () => {}, signal } = options
  const lock = join(dataDir, 'postgres.lock')
  const began = performance.now()
  let reported: Owner | undefined
  for (;;) {
    const taken = takeLock(lock, role)
    if ('release' in taken) return taken
    const { owner } = taken
    const url =
      role === 'command' &&
      postmasterOf(clusterOf(dataDir))?.state === 'ready' &&
      readText(embeddedUrlFile(dataDir))?.trim()
    if (url) return { url }
    requireWaitable(options, owner, performance.now() - began)
    if (role === 'up' && reported?.pid !== owner.pid)
      report(`waiting for process ${owner.pid}, a command that uses the database`)
    reported = owner
    await pause(100, undefined, signal ? { signal } : {})
  }
}

/** Throws if waiting for the owner is pointless. */
function requireWaitable({ dataDir, role = 'command' }: EmbeddedPostgresOptions, owner: Owner, waited: number): void {
  if (role === 'up' && owner.role === 'up')
    throw new CommandError(
      `"postrider up" (${commandLines().start}) is already running on this data as process ${owner.pid}; stop it first, or set ` +
        `DATA_DIR (now ${dataDir}) to another folder`,
    )
  if (role === 'command' && waited > FULL_WAIT_MS && !hasSpace(dataDir))
    throw new CommandError(
      `the disk of DATA_DIR (${dataDir}) is full, so process ${owner.pid} cannot start the database; free space on it`,
    )
  if (role === 'command' && waited > COMMAND_WAIT_MS)
    throw new CommandError(
      `process ${owner.pid} has locked the database of DATA_DIR (${dataDir}) but has not started it; retry later`,
    )
}

async function startOwn(options: EmbeddedPostgresOptions, release: () => void): Promise<EmbeddedPostgres> {
  const { dataDir, report = () => {}, backups, signal } = options
  const cluster = clusterOf(dataDir)
  const binaries = findBinaries()
  // Left by the last start if it was killed.
  rmSync(embeddedUrlFile(dataDir), { force: true })
  await endLeftOver(cluster, report, signal)
  ensureCluster(binaries, dataDir, report)
  disownPidFile(cluster)
  const env = backups && (await prepareArchive(backups, backupIdOf(dataDir), report))
  const settings = [...SERVER_SETTINGS, ...(env ? archiveSettings() : []), ...(options.settings ?? [])]
  const password = readPassword(dataDir)
  const port = await freePort()
  const logFile = join(dataDir, 'postgres.log')
  const server = new Server({ binaries, env, cluster, port, settings, logFile, report, signal })
  const url = `postgres://postrider:${password}@127.0.0.1:${port}/postgres`
  try {
    await server.start()
    writeFileSync(embeddedUrlFile(dataDir), `${url}\n`, { mode: 0o600 })
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    url,
    owned: true,
    async stop() {
      rmSync(embeddedUrlFile(dataDir), { force: true })
      await server.stop()
      release()
    },
  }
}

/**
 * Returns what the environment of a server that archives needs. While object storage does not respond, the server starts nevertheless: its
 * segments stay on the disk until they can be stored.
 */
function prepareArchive(
  backups: BackupAddress,
  database: string,
  report: (line: string) => void,
): Promise<NodeJS.ProcessEnv> {
  return withBackups(backups, PATIENCE.short, async (store) => {
    try {
      await prepareStore(store, database)
    } catch (error) {
      if (!(error instanceof BackupError && error.kind === 'unavailable')) throw error
      report(`${error.message}: changes stay on the disk of DATA_DIR until it does`)
    }
    for (const folder of store.serverFolders) mkdirSync(folder, { recursive: true, mode: 0o700 })
    // The server's user writes into them.
    asOrdinaryUser(...store.serverFolders)
    return accessEnvironment(backupAccess(backups))
  })
}

/** Postgres itself cannot report a full disk: its log is on the same disk. */
function hasSpace(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir)
  return bavail * bsize >= MIN_FREE_BYTES
}
