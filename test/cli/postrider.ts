import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from '../helpers/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FILE = 'packages/cli/src/postrider.ts'

export interface Ran {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** A command line's environment: nothing of the test runner's own, which would load itself into every process. */
function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', ...env }
}

/** `postrider …` as a process of its own. */
export function postrider(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  return finished(spawn(process.execPath, [FILE, ...args], { cwd: ROOT, env: environment(env) }))
}

/** A command that goes on while the test does something else. */
export interface Running {
  /** What it printed, once it has ended. */
  readonly ended: Promise<Ran>
  kill(): void
}

/** `postrider …`, given something on stdin. */
export function begin(env: Readonly<Record<string, string>>, args: readonly string[], stdin = ''): Running {
  const child = spawn(process.execPath, [FILE, ...args], { cwd: ROOT, env: environment(env) })
  child.stdin.write(stdin)
  return { ended: finished(child), kill: () => child.kill('SIGKILL') }
}

/** A line as a person pastes it. */
export function shell(line: string): Promise<Ran> {
  return finished(spawn('sh', ['-c', line], { cwd: ROOT, env: environment({}) }))
}

/** What `--json` prints; throws when the command fails. */
export async function answered<T>(env: Readonly<Record<string, string>>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await postrider(env, ...args, '--json')
  if (code !== 0) throw new Error(`postrider ${args.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

async function finished(child: ChildProcess): Promise<Ran> {
  child.stdin?.end()
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (octets: Buffer) => (stdout += octets))
  child.stderr?.on('data', (octets: Buffer) => (stderr += octets))
  const code = await new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (status, signal) => resolve(signal ?? status ?? -1))
  })
  return { code, stdout, stderr }
}

/** A running `postrider up`. */
export interface Installation {
  readonly pid: number
  stdout: string
  stderr: string
  readonly exited: Promise<number | NodeJS.Signals>
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** `postrider up`; resolves when it says that it runs, or has ended. */
export async function startUp(t: Test, env: Readonly<Record<string, string>>): Promise<Installation> {
  const child = spawn(process.execPath, [FILE, 'up'], { cwd: ROOT, env: environment(env) })
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code ?? -1))
  })
  let ended = false
  void exited.then(() => (ended = true))
  const installation: Installation = {
    pid: child.pid as number,
    stdout: '',
    stderr: '',
    exited,
    async end(signal) {
      child.kill(signal)
      return exited
    },
  }
  child.stdout.on('data', (octets: Buffer) => (installation.stdout += octets))
  child.stderr.on('data', (octets: Buffer) => (installation.stderr += octets))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until('everything to run', () => ended || installation.stdout.includes('Running.'), 60_000)
  return installation
}

/** The processes a process started, and theirs; Linux. */
export function descendantsOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readProc(`${name}/stat`))?.[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const below = (of: number): number[] => (children.get(of) ?? []).flatMap((child) => [child, ...below(child)])
  return below(pid)
}

export function commandLine(pid: number): string {
  return readProc(`${pid}/cmdline`).replaceAll('\0', ' ')
}

/** A process that ended but was not yet waited for is no longer alive. */
export function isAlive(pid: number): boolean {
  return /^\d+ \(.*\) [^ZX]/s.test(readProc(`${pid}/stat`))
}

function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'utf8')
  } catch {
    return ''
  }
}
