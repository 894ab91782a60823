import { type ChildProcess, execFile, fork } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { pause } from '../pause.ts'
import { Inbox } from './inbox.ts'
import {
  ACCOUNT_FILE,
  type Account,
  type Commands,
  copyFolder,
  ensureTemplate,
  findProgram,
  newFolder,
  removeFolder,
  sweepFolders,
  type TemplateOptions,
} from './template.ts'

const run = promisify(execFile)

export interface StartOptions {
  /** Sending domains, which are active; `shop.example` by default. */
  readonly domains?: readonly string[]
  /** Further settings, as .env.example has them. Those of the environment are not used: DATABASE_URL may be your program's. */
  readonly settings?: Readonly<Record<string, string>>
  /** The file bin/postrider.js; by default that of the package `postrider` which the current folder has. */
  readonly program?: string
  /** The folder that keeps a fresh installation to be copied; by default `postrider` in XDG_CACHE_HOME or ~/.cache. */
  readonly cache?: string
  /** Milliseconds until a start has failed; 60,000 by default. */
  readonly timeout?: number
}

/** An installation of its own, whose mail arrives in its inbox. */
export interface RunningPostrider {
  /** `baseUrl` of the client, and where the dashboard is. */
  readonly url: string
  /** The key of an account, with all scopes. By SMTP it is the password of the user `apikey`. */
  readonly apiKey: string
  readonly smtpHost: string
  /** With STARTTLS. */
  readonly smtpPort: number
  /** The certificate of the relay, as `ca` of a TLS client: PEM. */
  readonly certificate: string
  /** Where the inbox has its pages and its API, which is Mailpit's, too. */
  readonly inboxUrl: string
  readonly inbox: Inbox
  /** Stops all of it and deletes its data. Happens at the end of this process at the latest. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const START_MS = 60_000
/** Tries, if a port that was free is taken by another program meanwhile. */
const TRIES = 3
const STOP_MS = 10_000
const LOOK_MS = 15

/**
 * Starts Postrider with its embedded database, on free ports and a folder of its own: several can run side by side. The first start of a version takes
 * seconds, since it makes a fresh installation, of which all others are copies.
 */
export async function startPostrider(options: StartOptions = {}): Promise<RunningPostrider> {
  const { domains = ['shop.example'], settings = {}, timeout = START_MS } = options
  const program = resolve(options.program ?? findProgram())
  sweepFolders()
  const make: TemplateOptions['make'] = (folder, act) => withStarted({ program, folder, settings: {}, timeout }, act)
  const template = await ensureTemplate({ program, domains, cache: options.cache, make })
  const folder = newFolder()
  try {
    await copyFolder(template, folder)
    const { apiKey } = JSON.parse(await readFile(join(folder, ACCOUNT_FILE), 'utf8')) as Account
    const started = await begin({ program, folder, settings, timeout })
    const stop = async (): Promise<void> => {
      await started.stop()
      removeFolder(folder)
    }
    const { ports } = started
    const inboxUrl = `http://127.0.0.1:${ports.SANDBOX_HTTP_PORT}`
    return {
      url: `http://127.0.0.1:${ports.API_PORT}`,
      apiKey,
      smtpHost: '127.0.0.1',
      smtpPort: ports.RELAY_PORT,
      certificate: await readFile(join(folder, 'certificate.pem'), 'utf8'),
      inboxUrl,
      inbox: new Inbox(inboxUrl),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    removeFolder(folder)
    throw error
  }
}

const PORTS = [
  'API_PORT',
  'RELAY_PORT',
  'RELAY_TLS_PORT',
  'RETURNS_PORT',
  'SANDBOX_SMTP_PORT',
  'SANDBOX_HTTP_PORT',
] as const
type Ports = Readonly<Record<(typeof PORTS)[number], number>>

interface Started extends Commands {
  readonly ports: Ports
  stop(): Promise<void>
}

interface Place {
  readonly program: string
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  readonly timeout: number
}

async function withStarted(place: Place, act: (commands: Commands) => Promise<void>): Promise<void> {
  const started = await begin(place)
  try {
    await act(started)
  } finally {
    await started.stop()
  }
}

async function begin(place: Place): Promise<Started> {
  for (let tries = 1; ; tries++) {
    const ports = await freePorts()
    const env = environment(place, ports)
    const child = startProcess(place, env)
    const said = listen(child)
    const problem = await ready(child, ports, place.timeout)
    if (problem === undefined)
      return {
        ports,
        async command(...args) {
          const { stdout } = await run(process.execPath, [place.program, ...args, '--json'], { cwd: tmpdir(), env })
          return JSON.parse(stdout) as unknown
        },
        stop: () => stop(child),
      }
    await stop(child)
    if (tries === TRIES || !said().includes('in use')) throw new Error(`Postrider ${problem}:\n${said().trim()}`)
  }
}

/** None of this process's settings, which are those of the program that is tested, and none of a file in the current folder. */
function environment({ folder, settings }: Place, ports: Ports): Record<string, string> {
  const own = ['PATH', 'HOME', 'TMPDIR', 'LANG'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(own),
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    DATA_DIR: folder,
    POSTRIDER_SETTINGS: join(folder, 'postrider.env'),
    ...settings,
  }
}

/** It ends with this process, however that ends: it stops when the channel to its parent is closed. */
function startProcess({ program }: Place, env: Record<string, string>): ChildProcess {
  const child = fork(program, ['up'], { cwd: tmpdir(), env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  child.unref()
  child.channel?.unref()
  return child
}

const MAX_SAID = 8000

function listen(child: ChildProcess): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (octets: Uint8Array) => (said = (said + new TextDecoder().decode(octets)).slice(-MAX_SAID)))
    // A test run must be able to end without stop().
    ;(stream as unknown as { unref?(): void } | null)?.unref?.()
  }
  child.on('error', ({ message }) => (said += message))
  return () => said
}

/** Returns why it does not run; undefined as soon as it does. */
async function ready(child: ChildProcess, ports: Ports, timeout: number): Promise<string | undefined> {
  const until = performance.now() + timeout
  const urls = [`http://127.0.0.1:${ports.API_PORT}/health/ready`, `http://127.0.0.1:${ports.SANDBOX_HTTP_PORT}/readyz`]
  for (;;) {
    if (hasEnded(child)) return 'ended instead of starting'
    if (performance.now() > until) return `did not start within ${timeout} ms`
    if ((await Promise.all(urls.map(responds))).every(Boolean)) return undefined
    await pause(LOOK_MS, undefined)
  }
}

/** Its socket takes calls before the process that answers them has begun. No connection is kept open: a stop would wait for it. */
function responds(url: string): Promise<boolean> {
  return new Promise((end) => {
    const request = get(url, { agent: false, timeout: 1000 }, (response) => {
      response.resume()
      end(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => end(false))
  })
}

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise<void>((end) => child.once('exit', () => end()))
  child.ref()
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}

async function freePorts(): Promise<Ports> {
  const servers = PORTS.map(() => createServer())
  const found = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject)
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return Object.fromEntries(PORTS.map((name, at) => [name, found[at]])) as unknown as Ports
}
