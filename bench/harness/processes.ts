import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A process of the benchmark's own; all of them are ended when it ends. */
export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  /** The most memory it ever had, in KiB; 0 where the system does not tell. */
  peakKib(): number
  /** Waits for its end after SIGTERM; SIGKILL after ten seconds. */
  stop(): Promise<void>
}

const running = new Set<Running>()

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A line of its standard output that says it works; without one it counts as started at once. */
  readonly ready?: RegExp
  /** Takes every piece of its standard output. */
  readonly output?: (text: string) => void
}

/** Throws an Error with what it said when it ends before it works. */
export async function start(
  command: string,
  args: readonly string[],
  { env, ready, output }: StartOptions = {},
): Promise<Running> {
  // What it prints goes to a file, as in production: a reader at the other end of a pipe would use the processor as well.
  const printed = ready ? mkdtempSync(join(tmpdir(), 'postrider-bench-output-')) : undefined
  const file = printed && join(printed, 'stdout')
  const descriptor = file ? openSync(file, 'w') : undefined
  const child = spawn(command, args, {
    cwd: ROOT,
    env: env ? { PATH: process.env.PATH ?? '', ...env } : process.env,
    stdio: ['ignore', descriptor ?? (output ? 'pipe' : 'ignore'), 'pipe'],
  })
  if (descriptor !== undefined) closeSync(descriptor)
  const errors: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => {
    errors.push(chunk.toString())
    if (errors.length > 50) errors.shift()
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (printed) void ended.then(() => rmSync(printed, { recursive: true, force: true }))
  const process_: Running = {
    child,
    pid: child.pid ?? 0,
    peakKib: () => peakKib(child.pid ?? 0),
    async stop() {
      running.delete(process_)
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const hard = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(hard)
    },
  }
  running.add(process_)
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      running.delete(process_)
      reject(new Error(`${command} ${args[0] ?? ''} ended with ${code}: ${errors.join('').slice(-2000)}`))
    })
    if (output) child.stdout?.on('data', (chunk: Buffer) => output(chunk.toString()))
    if (ready && file) until('its first word', () => ready.test(readFileSync(file, 'utf8'))).then(resolve, reject)
    else child.once('spawn', () => resolve())
  })
  return process_
}

/** Runs a program to its end and answers what it printed. Throws an Error with its complaints when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: env ? { PATH: process.env.PATH ?? '', ...env } : process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk))
  child.stderr.on('data', (chunk: Buffer) => (err = (err + chunk).slice(-4000)))
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? -1))
  })
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${err || out.slice(-2000)}`)
  return out
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((one) => one.stop()))
}

function peakKib(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (!address || typeof address === 'string') throw new Error('no free port')
  return address.port
}

export async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Polls until it holds. Throws an Error after `seconds`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { seconds = 120, every = 20 } = {},
): Promise<void> {
  const deadline = performance.now() + seconds * 1000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`)
    await pause(every)
  }
}

export function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
