import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { timerDelay } from '@postrider/core'
import type { Binaries } from './binaries.ts'
import { asOrdinaryUser, works } from './ordinary-user.ts'
import { readText } from './read-text.ts'
import { startProblem } from './start-problem.ts'

export interface ServerOptions {
  readonly binaries: Binaries
  /** Further variables of its environment. */
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly cluster: string
  readonly port: number
  /** `name=value` */
  readonly settings: readonly string[]
  readonly logFile: string
  readonly report: (line: string) => void
  /** Attempts at the first start; default 5. */
  readonly firstStarts?: number
  /** Aborts the wait for the first start. */
  readonly signal?: AbortSignal | undefined
}

/** Attempts at the first start: a server killed with its owner keeps its shared memory for a moment. */
const FIRST_STARTS = 5
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5000
/** Interval of progress reports: after a crash the server replays the WAL, which can take minutes. */
const REPORT_INTERVAL_MS = 15_000
const FAST_SHUTDOWN_MS = 20_000

/** The embedded Postgres as a child of this process, restarted whenever it dies. */
export class Server {
  readonly #options: ServerOptions
  #child: ChildProcess | undefined
  /** Where the output of the latest try begins in the log file. */
  #outputAt = 0
  /** Why its program could not be run. */
  #notRun = ''
  #stopping = false

  constructor(options: ServerOptions) {
    this.#options = options
  }

  /** Resolves once it accepts connections. Throws the {@link startProblem} if it does not start. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      if (await this.#run()) break
      if (tries === (this.#options.firstStarts ?? FIRST_STARTS)) throw this.#problem()
      await this.#pause(FIRST_PAUSE_MS * tries)
    }
    void this.#keep()
  }

  /** Restarts it whenever it dies, without a limit: its log has the reason, and a full disk may get free space again. */
  async #keep(): Promise<void> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
      const child = this.#child as ChildProcess
      await ended(child)
      if (this.#stopping) return
      this.#options.report('the embedded database died; restarting it')
      await pause(timerDelay(wait))
      if (this.#stopping) return
      if (await this.#run().catch(() => false)) wait = FIRST_PAUSE_MS / 2
      else if (!this.#stopping) this.#options.report(this.#problem().message)
    }
  }

  /** Starts the server and returns whether it accepted connections. */
  async #run(): Promise<boolean> {
    const child = this.#spawn()
    this.#child = child
    const gone = ended(child)
    const pidFile = join(this.#options.cluster, 'postmaster.pid')
    let reportedAt = performance.now()
    while (isRunning(child)) {
      const lines = readText(pidFile)?.split('\n') ?? []
      if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return true
      if (performance.now() - reportedAt > REPORT_INTERVAL_MS) {
        this.#options.report(`the embedded database is still starting; see ${this.#options.logFile}`)
        reportedAt = performance.now()
      }
      await Promise.race([this.#pause(20), gone])
    }
    return false
  }

  #spawn(): ChildProcess {
    const { binaries, env, cluster, port, settings, logFile } = this.#options
    this.#notRun = ''
    const flags = [`port=${port}`, ...settings].flatMap((setting) => ['-c', setting])
    const [program = '', ...args] = [
      ...asOrdinaryUser(cluster),
      ...(process.platform === 'linux' && works(['setpriv', '--version']) ? ENDED_WITH_PARENT : []),
      binaries.postgres,
      '-D',
      cluster,
      ...flags,
    ]
    const log = openSync(logFile, 'a', 0o600)
    try {
      this.#outputAt = fstatSync(log).size
      // In its own process group, so that Ctrl-C in a terminal reaches the application first and the database last.
      const child = spawn(program, args, {
        env: { ...binaries.env, ...env },
        detached: true,
        stdio: ['ignore', log, log],
      })
      // A program that cannot be run has no pid and counts as ended.
      child.on('error', ({ message }) => (this.#notRun = message))
      return child
    } finally {
      closeSync(log)
    }
  }

  /** Why it did not start, by what it wrote in this try: earlier lines are of other faults. A full disk has no room for any. */
  #problem(): Error {
    const { binaries, cluster, logFile } = this.#options
    const written = existsSync(logFile)
      ? readFileSync(logFile).subarray(this.#outputAt).subarray(-16_000).toString()
      : ''
    return startProblem({
      output: `${written}\n${this.#notRun}`,
      action: 'start the embedded Postgres',
      cluster,
      binaries,
      program: binaries.postgres,
      runner: asOrdinaryUser(),
      logFile,
    })
  }

  #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#options
    return pause(timerDelay(milliseconds), undefined, signal && !this.#stopping ? { signal } : {})
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (!child || !isRunning(child)) return
    const gone = ended(child)
    child.kill('SIGINT')
    const patience = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS)
    await gone
    clearTimeout(patience)
  }
}

/**
 * If this process is killed, the kernel sends the server SIGINT (fast shutdown). It must follow the change of user, which resets it.
 *
 * The kernel sends nothing to a server that asks for it when this process has died already, so the shell looks at its parent afterwards.
 */
const ENDED_WITH_PARENT = [
  'setpriv',
  '--pdeathsig',
  'INT',
  'sh',
  '-c',
  `[ "$PPID" = ${process.pid} ] && exec "$@"`,
  'sh',
]

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function ended(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}
