import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Output } from '../../packages/cli/src/command.ts'
import { runCommand } from '../../packages/cli/src/command-line.ts'
import { freePorts } from '../helpers/ports.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'
import { until } from '../helpers/until.ts'
import { FAULTS, failOnWarnings } from '../helpers/warnings.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FILE = 'packages/cli/src/postrider.ts'

export interface Ran {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...BARE_ENVIRONMENT, ...env }
}

/** `postrider …`, in this process: one of its own takes most of a second only to begin. */
export async function postrider(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  const into = (pieces: Buffer[]): Output => ({
    isTTY: false,
    write: (text: string | Uint8Array) => pieces.push(Buffer.from(text as string)) > 0,
  })
  const code = await runCommand(args, environment(env), { stdout: into(out), stderr: into(err) })
  return { code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }
}

/** `postrider …` as a process of its own. */
export function postriderProcess(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  return finished(spawn(process.execPath, [FILE, ...args], { cwd: ROOT, env: environment(env) }))
}

/** A command that goes on while the test does something else. */
export interface Running {
  /** What it printed, once it has ended. */
  readonly ended: Promise<Ran>
  /** What it has printed on stderr so far. */
  said(): string
  /** Resolves as soon as it has printed this on stderr, or has ended. */
  says(line: string): Promise<void>
  /** SIGKILL by default. */
  kill(signal?: NodeJS.Signals): void
}

/** `postrider …`, given something on stdin. */
export function begin(env: Readonly<Record<string, string>>, args: readonly string[], stdin = ''): Running {
  const child = spawn(process.execPath, [FILE, ...args], { cwd: ROOT, env: environment(env) })
  child.stdin.write(stdin)
  let said = ''
  child.stderr.on('data', (octets: Buffer) => (said += octets))
  const says = (line: string) =>
    new Promise<void>((resolve) => {
      const look = () => said.includes(line) && resolve()
      child.stderr.on('data', look).once('close', resolve)
      look()
    })
  return { ended: finished(child), said: () => said, says, kill: (signal = 'SIGKILL') => void child.kill(signal) }
}

/** A line as a person pastes it. */
export function shell(line: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return finished(spawn('sh', ['-c', line], { cwd: ROOT, env: environment(env) }))
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
  if (FAULTS.test(stderr)) throw new Error(stderr)
  return { code, stdout, stderr }
}

const PORTS = [
  'API_PORT',
  'RELAY_PORT',
  'RELAY_TLS_PORT',
  'RETURNS_PORT',
  'SANDBOX_SMTP_PORT',
  'SANDBOX_HTTP_PORT',
] as const
/** The demo account's key, as the first start prints it. */
export const KEY = /pr_[0-9A-Za-z]{33}/

/** What an installation of its own needs: a new DATA_DIR and free ports. */
export async function upSettings(extra: Record<string, string> = {}): Promise<Record<string, string>> {
  const ports = await freePorts(PORTS.length)
  return {
    DATA_DIR: mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'up-')),
    ...Object.fromEntries(PORTS.map((name, at) => [name, String(ports[at])])),
    ...extra,
  }
}

export const apiReady = (env: Readonly<Record<string, string>>): Promise<boolean> =>
  fetch(`http://127.0.0.1:${env.API_PORT}/health/ready`, { signal: AbortSignal.timeout(5000) }).then(
    ({ ok }) => ok,
    () => false,
  )

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
  const installation = beginUp(t, env)
  let ended = false
  void installation.exited.then(() => (ended = true))
  await until('everything to run', () => ended || installation.stdout.includes('Running.'), 60_000)
  return installation
}

/** The same without waiting: a process group of its own, whose number is its pid, as a service manager makes one. `root`: the folder of another version. */
export function beginUp(t: Test, env: Readonly<Record<string, string>>, root = ROOT): Installation {
  const child = spawn(process.execPath, [FILE, 'up'], { cwd: root, env: environment(env), detached: true })
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code ?? -1))
  })
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
  failOnWarnings(t, child.stderr)
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return installation
}

/** kill -9 of the whole group, the embedded Postgres not among it: that has a group of its own. */
export async function killGroup({ pid, exited }: Installation): Promise<void> {
  process.kill(-pid, 'SIGKILL')
  await exited
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
