import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandError } from '../command.ts'
import { asOrdinaryUser, type Binaries, works } from './binaries.ts'
import { readText } from './read-text.ts'

export interface ServerOptions {
  readonly binaries: Binaries
  readonly cluster: string
  readonly port: number
  /** `name=value` */
  readonly settings: readonly string[]
  readonly logFile: string
  readonly report: (line: string) => void
  /** Ends the waiting for the first start. */
  readonly signal?: AbortSignal | undefined
}

/** What is left of a server that was killed with its owner holds its shared memory for a moment: so often the first start is tried. */
const FIRST_STARTS = 5
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5000
/** After a fall it reads the WAL again, which can take minutes; it is told every so often. */
const TELL_EVERY_MS = 15_000
const FAST_WITHIN_MS = 20_000

/** The embedded Postgres as a child of this process: started again whenever it dies. */
export class Server {
  readonly #options: ServerOptions
  #child: ChildProcess | undefined
  #stopping = false

  constructor(options: ServerOptions) {
    this.#options = options
  }

  /** Resolves once it takes connections. Throws {@link CommandError} with what it said when it does not come up. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (await this.#run()) break
      if (tries === FIRST_STARTS) throw new CommandError(this.#complaint())
      await this.#pause(FIRST_PAUSE_MS * tries)
    }
    void this.#keep()
  }

  /** Starts it again whenever it has died, for good: its log says why it does, and the disk it wants may have room again. */
  async #keep(): Promise<void> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      const child = this.#child as ChildProcess
      await ended(child)
      if (this.#stopping) return
      this.#options.report('the embedded database died and is started again')
      await pause(wait)
      if (this.#stopping) return
      if (await this.#run().catch(() => false)) wait = FIRST_PAUSE_MS / 2
      else if (!this.#stopping) this.#options.report(this.#complaint())
    }
  }

  /** Starts it and answers whether it came to take connections. */
  async #run(): Promise<boolean> {
    const child = this.#spawn()
    this.#child = child
    const gone = ended(child)
    const pidFile = join(this.#options.cluster, 'postmaster.pid')
    let told = performance.now()
    while (isRunning(child)) {
      const lines = readText(pidFile)?.split('\n') ?? []
      if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return true
      if (performance.now() - told > TELL_EVERY_MS) {
        this.#options.report(`the embedded database is still starting; ${this.#options.logFile} says what it does`)
        told = performance.now()
      }
      await Promise.race([this.#pause(20), gone])
    }
    return false
  }

  #spawn(): ChildProcess {
    const { binaries, cluster, port, settings, logFile } = this.#options
    const flags = [`port=${port}`, ...settings].flatMap((setting) => ['-c', setting])
    const [program = '', ...args] = [
      ...asOrdinaryUser(cluster),
      // When we are killed the kernel asks the server to stop (SIGINT: fast shutdown). Not before the user is changed: that forgets it.
      ...(SETPRIV ? ['setpriv', '--pdeathsig', 'INT'] : []),
      ...[binaries.postgres, '-D', cluster, ...flags],
    ]
    const log = openSync(logFile, 'a', 0o600)
    try {
      // A process group of its own: a terminal's Ctrl-C must reach the application first, the database last.
      const child = spawn(program, args, { env: binaries.env, detached: true, stdio: ['ignore', log, log] })
      // One that can't be run at all has no pid, and counts as ended.
      child.on('error', () => {})
      return child
    } finally {
      closeSync(log)
    }
  }

  /** Why it did not start, in its own last words if it had any: a full disk has no room for them. */
  #complaint(): string {
    const { logFile } = this.#options
    const said = readText(logFile)
      ?.slice(-4000)
      .match(/(?<=(FATAL|PANIC): +).*/g)
      ?.at(-1)
    return `the embedded Postgres did not start${said ? ` (${said})` : ''}; see ${logFile}`
  }

  #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#options
    return pause(milliseconds, undefined, signal && !this.#stopping ? { signal } : {})
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (!child || !isRunning(child)) return
    const gone = ended(child)
    child.kill('SIGINT')
    const patience = setTimeout(() => child.kill('SIGQUIT'), FAST_WITHIN_MS)
    await gone
    clearTimeout(patience)
  }
}

const SETPRIV = process.platform === 'linux' && works(['setpriv', '--version'])

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function ended(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}
