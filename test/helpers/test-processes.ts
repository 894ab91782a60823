import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { LATE, OVER, type TestReport } from './test-report.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const IN_TURN = fileURLToPath(new URL('files-in-turn.ts', import.meta.url))
/** Seconds beyond tap's own timeout, which names the test that did not end. */
const BEYOND_TAP = 20
/** Seconds in which a process ends by itself once its files are done; one that does not has left something open. */
const ENDS_WITHIN = 60
const DAY = 86_400
/**
 * A process of tests ends before its garbage is worth collecting. Not the young generation as well: its flags apply to threads too,
 * whatever their own limits, and a thread that reached the limit of its heap then ended the process.
 *
 * Garbage is collected by the thread that made it: several threads that share this work wait for each other, and where more processes
 * run than there are cores, they take a sixth of the processor time of a test process doing so.
 */
const HEAP = ['--initial-old-space-size=512', '--single-threaded-gc']

const running = new Set<ChildProcess>()

export interface Given {
  readonly env: NodeJS.ProcessEnv
  /** Seconds per file. */
  readonly patience: number
  /** In place of {@link ENDS_WITHIN}. */
  readonly endsWithin?: number
  /** Each process waits for a debugger before its first line, and for as long as somebody takes. */
  readonly debug: boolean
  /** Called with an uncaught error of a file that ended before it. */
  onLateError(file: string, text: string): void
}

/** A process that runs files, one at a time. */
export interface TestProcess {
  /** The files it was given. */
  readonly files: readonly string[]
  /** False when it has ended. */
  readonly lives: boolean
  run(file: string, report: TestReport): Promise<void>
  /** Resolves with a sentence if something was wrong with the end of the process. */
  end(): Promise<string | undefined>
}

/** Ends every process, with all that it started. */
export function endAll(): void {
  for (const child of running) endGroup(child)
}

/** Runs one file in a process of its own. */
export async function runAlone(file: string, report: TestReport, given: Given): Promise<void> {
  const own = openTestProcess(given)
  await own.run(file, report)
  const problem = await own.end()
  if (problem === undefined || report.count.failed > 0) return
  report.count.failed++
  report.lines.push(problem)
}

export function openTestProcess({
  env,
  patience: seconds,
  endsWithin = ENDS_WITHIN,
  debug,
  onLateError,
}: Given): TestProcess {
  const patience = debug ? DAY : seconds
  const files: string[] = []
  let current: { file: string; report: TestReport; done: () => void } | undefined
  let anyFailed = false
  let isOver = false
  let status: number | NodeJS.Signals | undefined
  const { child, ended, lines } = start({ ...env, TAP_TIMEOUT: '0', FILE_TIMEOUT: String(patience) }, debug)
  child.stdin.on('error', () => {})

  const finish = () => {
    if (current?.report.isEmpty && current.report.count.failed === 0) current.report.count.failed++
    anyFailed ||= (current?.report.count.failed ?? 0) > 0
    current?.done()
    current = undefined
  }
  const read = async () => {
    for await (const line of lines) {
      if (line.startsWith(LATE)) {
        const { file, text } = JSON.parse(line.slice(LATE.length)) as { file: string; text: string }
        onLateError(file, text)
        continue
      }
      if (line === OVER) isOver = true
      const [, failed, title] = /^(not )?ok \d+ - (.*?)(?: # time=\S+)?$/.exec(line) ?? []
      if (title === undefined) current?.report.add(line.replace(/^ {4}/, ''))
      else {
        if (failed && current?.report.count.failed === 0) current.report.add(line)
        if (title === current?.file) finish()
      }
    }
    status = await ended
    if (!current) return
    current.report.count.failed++
    current.report.lines.push(`ended with ${status}`)
    finish()
  }
  const isRead = read()

  return {
    files,
    get lives() {
      return status === undefined && child.exitCode === null && child.signalCode === null
    },
    async run(file, report) {
      files.push(file)
      const timer = setTimeout(() => endGroup(child), (patience + BEYOND_TAP) * 1000)
      const before = processorSeconds(child)
      await new Promise<void>((done) => {
        current = { file, report, done }
        if (status === undefined) child.stdin.write(`${file}\n`)
        else finish()
      })
      clearTimeout(timer)
      const after = processorSeconds(child)
      if (before !== undefined && after !== undefined) report.processorSeconds = after - before
    },
    async end() {
      child.stdin.end()
      let threads = ''
      const timer = setTimeout(() => {
        threads = threadsOf(child)
        endGroup(child)
      }, endsWithin * 1000)
      await isRead
      clearTimeout(timer)
      if (threads !== '')
        process.stderr.write(`a process ${isOver ? 'at its end' : 'whose files were done'} hung: ${threads}\n`)
      // Its files had left nothing open: Node's own end hung.
      if (threads !== '' && isOver) return undefined
      if (status === 0 || (anyFailed && status === 1)) return undefined
      return `a process ended with ${status} after its files were done, which leave something open or fail late: ${files.join(' ')}`
    },
  }
}

function start(env: NodeJS.ProcessEnv, debug: boolean) {
  const child = spawn(process.execPath, [...HEAP, ...(debug ? ['--inspect-brk'] : []), IN_TURN], {
    cwd: ROOT,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  running.add(child)
  const lines = createInterface({ input: child.stdout })
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 1)
      endGroup(child)
      running.delete(child)
      // What it left behind may have its output open, and would be waited for.
      setTimeout(() => {
        lines.close()
        child.stdout.destroy()
      }, 1000).unref()
    })
  })
  return { child, ended, lines }
}

/**
 * Returns the processor time of a process and of those it started and has waited for; undefined if it has ended, or where there is no
 * /proc. proc_pid_stat(5) counts it in ticks, of which USER_HZ is 100 on every platform of Linux that Node runs on.
 */
export function processorSeconds({ pid }: { readonly pid?: number | undefined }): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number)
    return (user + system + childrenUser + childrenSystem) / 100
  } catch {
    return undefined
  }
}

/** The names of its threads, and where each waits in the kernel; see proc(5). */
function threadsOf({ pid }: ChildProcess): string {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks)
      .map((id) => ['comm', 'wchan'].map((file) => readFileSync(`${tasks}/${id}/${file}`, 'utf8').trim()).join(' '))
      .join(', ')
  } catch (error) {
    return String(error)
  }
}

/** tap's teardowns do not run on a signal, so all that a file started goes with it; what has a group of its own looks after itself. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL')
  } catch {
    // Nothing is left of it.
  }
}
