import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { embeddedUrlFile } from '@postrider/core'
import { CommandError } from '../command.ts'
import { findBinaries } from './binaries.ts'
import { clusterOf, ensureCluster, readPassword } from './cluster.ts'
import { type Owner, type Role, takeLock } from './owner.ts'
import { endLeftOver, postmasterOf } from './postmaster.ts'
import { readText } from './read-text.ts'
import { Server } from './server.ts'

/**
 * A real Postgres from npm's own binaries, run under this process: initdb on first use, restarted when it dies, stopped with
 * us, attached to when another process of this DATA_DIR already runs it.
 */
export interface EmbeddedPostgres {
  readonly url: string
  /** False: another process owns it, and stop() leaves it running. */
  readonly owned: boolean
  /** Stops the server (fast shutdown) and forgets its URL. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  readonly dataDir: string
  /** `up` stays, so it wants a database of its own: one attached to would end with its owner. Default: command. */
  readonly role?: Role
  /** Called with one line when something worth telling happens. */
  readonly report?: (line: string) => void
  /** More `name=value` settings; tests use them. */
  readonly settings?: readonly string[]
  /** Ends the waiting, with its reason thrown. */
  readonly signal?: AbortSignal
}

/** What a queue on one machine wants; the rest are Postgres' own defaults. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=128MB',
  'timezone=UTC',
  'jit=off',
  // Recycled WAL took the p99 of an accept from 50 to 15 ms; 1 GB is what a laptop can spare.
  'min_wal_size=1GB',
  'max_wal_size=4GB',
  'checkpoint_timeout=15min',
  'autovacuum_naptime=10s',
  'random_page_cost=1.1',
  // The detail of an error quotes what stands in a row: addresses and texts stay out of logs.
  'log_error_verbosity=terse',
]

/** A command does not wait longer for whoever has the database and does not get it to run. */
const COMMAND_WAITS_MS = 60_000
/** Postgres can't start with less room: a WAL segment. */
const LEAST_ROOM = 16 * 1024 * 1024

/**
 * Throws a {@link CommandError} that says what to do when there is no binary for this machine, when another `up` has this DATA_DIR,
 * when its disk is full, or when the server does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, signal } = options
  let release: (() => void) | undefined
  try {
    mkdirSync(dataDir, { recursive: true })
    const got = await takeOrAttach(options)
    if ('url' in got) return { url: got.url, owned: false, stop: async () => {} }
    release = got.release
    return await startOwn(options, release)
  } catch (error) {
    release?.()
    const full =
      (error as NodeJS.ErrnoException).code === 'ENOSPC' || (release && !signal?.aborted && !hasRoom(dataDir))
    if (!full) throw error
    throw new CommandError(`the disk of DATA_DIR (${dataDir}) is full: make room on it, then start again`)
  }
}

/** Takes the lock, or the URL of the database that runs; waits while neither can be had. */
async function takeOrAttach(options: EmbeddedPostgresOptions): Promise<{ release: () => void } | { url: string }> {
  const { dataDir, role = 'command', report = () => {}, signal } = options
  const lock = join(dataDir, 'postgres.lock')
  const deadline = performance.now() + COMMAND_WAITS_MS
  let told: Owner | undefined
  for (;;) {
    const taken = takeLock(lock, role)
    if ('release' in taken) return taken
    const { owner } = taken
    const url =
      role === 'command' &&
      postmasterOf(clusterOf(dataDir))?.state === 'ready' &&
      readText(embeddedUrlFile(dataDir))?.trim()
    if (url) return { url }
    refuse(options, owner, deadline)
    if (role === 'up' && told?.pid !== owner.pid)
      report(`waiting for process ${owner.pid}, a command that uses the database`)
    told = owner
    await pause(100, undefined, signal ? { signal } : {})
  }
}

/** Throws when waiting for the owner leads nowhere. */
function refuse({ dataDir, role = 'command' }: EmbeddedPostgresOptions, owner: Owner, deadline: number): void {
  if (role === 'up' && owner.role === 'up')
    throw new CommandError(
      `"postrider up" (npm start) runs already on this data, as process ${owner.pid}: stop that one first, or set DATA_DIR (now ${dataDir}) to another folder`,
    )
  if (role === 'command' && performance.now() > deadline)
    throw new CommandError(
      `process ${owner.pid} has the database of DATA_DIR (${dataDir}) and does not get it to run; try again later`,
    )
}

async function startOwn(options: EmbeddedPostgresOptions, release: () => void): Promise<EmbeddedPostgres> {
  const { dataDir, report = () => {}, settings = [], signal } = options
  const cluster = clusterOf(dataDir)
  const binaries = findBinaries()
  // Of the last start, which can't have removed it if it was killed.
  rmSync(embeddedUrlFile(dataDir), { force: true })
  await endLeftOver(cluster, report, signal)
  ensureCluster(binaries, dataDir, report)
  const password = readPassword(dataDir)
  const port = await freePort()
  const logFile = join(dataDir, 'postgres.log')
  const server = new Server({ binaries, cluster, port, settings: [...SETTINGS, ...settings], logFile, report, signal })
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

/** Postgres itself can't say so on a full disk: its log is there too. */
function hasRoom(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir)
  return bavail * bsize >= LEAST_ROOM
}

/** A free port below the kernel's range for outgoing connections, which would take it now and then. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
