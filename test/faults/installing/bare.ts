import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from '../../helpers/until.ts'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Kept between runs: a system takes a minute, and Debian's npm three more. */
const KEPT = process.env.BARE_FOLDER ?? '/var/tmp/postrider-bare'
const MIRROR = process.env.DEBIAN_MIRROR ?? 'http://deb.debian.org/debian'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Of this machine, for which the systems have no package of this age. */
const SYSTEM_NODE = '/usr/bin/node'
const SYSTEM_NPM = '/usr/lib/node_modules/npm'

/** In a bare system: the authorities that this machine trusts besides the usual ones, such as that of a proxy to the registry. */
const AUTHORITIES = '/etc/authorities.pem'

/** Debian's own Node, that of this machine, or none. */
export type NodeKind = 'none' | 'debian' | 'system'

/** What a machine lacks to make bare systems; undefined if nothing. */
export function missingForBare(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  const found = ['/usr/sbin/debootstrap', '/usr/bin/dpkg-deb'].every((file) => existsSync(file))
  return found ? undefined : 'it needs debootstrap and dpkg-deb'
}

/** Whether the system's Node is one that `npm start` runs with. */
export function hasSystemNode(): boolean {
  const { stdout } = spawnSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)/.exec(stdout ?? '')?.[1]) >= 20 && existsSync(SYSTEM_NPM)
}

/** A Debian without anything but its essential packages and, if wanted, Node; what is changed in it goes with the test. */
export interface Bare {
  /** Where its files are on this machine. */
  readonly folder: string
  /** A shell of a user in a folder, in which lines are typed one after the other. */
  shell(user: string, cwd: string, env: Readonly<Record<string, string>>): Shell
}

export function startBare(t: Test, suite: string, node: NodeKind): Bare {
  const own = mkdtempSync(join(tmpdir(), 'postrider-bare-'))
  chmodSync(own, 0o755)
  const folder = join(own, 'root')
  for (const name of ['root', 'upper', 'work']) mkdirSync(join(own, name))
  const mounts: string[] = []
  const mount = (at: string, ...args: string[]): void => {
    execFileSync('mount', [...args, at])
    mounts.unshift(at)
  }
  const layers = `lowerdir=${keptSystem(suite, node)},upperdir=${join(own, 'upper')},workdir=${join(own, 'work')}`
  mount(folder, '-t', 'overlay', 'overlay', '-o', layers)
  for (const name of ['proc', 'dev', 'dev/shm']) mount(join(folder, name), '--bind', `/${name}`)
  t.teardown(async () => {
    for (const one of mounts) {
      // Processes that were killed may still have files in it.
      await until(`nothing to use ${one}`, () => spawnSync('umount', [one]).status === 0, 20_000)
    }
    // 40,000 files: rmSync takes minutes for them on a busy machine.
    execFileSync('rm', ['-rf', own])
  })
  if (node === 'system') addSystemNode(folder)
  copyFileSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'))
  if (process.env.NODE_EXTRA_CA_CERTS) copyFileSync(process.env.NODE_EXTRA_CA_CERTS, join(folder, AUTHORITIES))
  execFileSync('chroot', [folder, 'useradd', '--create-home', '--shell', '/bin/bash', 'lena'])
  return { folder, shell: (user, cwd, env) => new Shell(t, folder, { user, cwd, env }) }
}

function keptSystem(suite: string, node: NodeKind): string {
  const [bare, withNode] = [join(KEPT, suite), join(KEPT, `${suite}-node`)]
  mkdirSync(KEPT, { recursive: true })
  if (!existsSync(bare)) {
    const draft = mkdtempSync(`${bare}-`)
    chmodSync(draft, 0o755)
    execFileSync('debootstrap', ['--variant=minbase', suite, draft, MIRROR], { stdio: 'ignore' })
    renameSync(draft, bare)
  }
  if (node !== 'debian') return bare
  if (!existsSync(withNode)) {
    const draft = mkdtempSync(`${withNode}-`)
    execFileSync('cp', ['-a', `${bare}/.`, draft])
    copyFileSync('/etc/resolv.conf', join(draft, 'etc/resolv.conf'))
    const install =
      'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nodejs npm'
    execFileSync('chroot', [draft, 'sh', '-c', install], { stdio: 'ignore' })
    renameSync(draft, withNode)
  }
  return withNode
}

/** As the archives of its makers are unpacked: into /usr/local. */
function addSystemNode(folder: string): void {
  const modules = join(folder, 'usr/local/lib/node_modules/npm')
  copyFileSync(SYSTEM_NODE, join(folder, 'usr/local/bin/node'))
  cpSync(SYSTEM_NPM, modules, { recursive: true })
  for (const name of ['npm', 'npx'])
    execFileSync('ln', ['-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name)])
}

interface ShellOptions {
  readonly user: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface Typed {
  readonly code: number
  readonly output: string
}

/** What was typed last goes on with what came before: variables, functions and folders. */
export class Shell {
  readonly #t: Test
  readonly #folder: string
  readonly #options: ShellOptions
  readonly #child: ChildProcess
  #said = ''
  #count = 0

  constructor(t: Test, folder: string, options: ShellOptions) {
    this.#t = t
    this.#folder = folder
    this.#options = options
    this.#child = this.#spawn('exec 2>&1; cd "$START"; while IFS= read -r -d "" line; do eval "$line"; done')
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (octets: Buffer) => (this.#said += octets))
  }

  /** Types a line and waits until it has ended. */
  async type(line: string, within = 400_000): Promise<Typed> {
    const mark = `::${++this.#count}::`
    const from = this.#said.length
    this.#child.stdin?.write(`{ ${line}\n} < /dev/null; echo "${mark}$?"\0`)
    const end = new RegExp(`${mark}(\\d+)\n`)
    const ended = () => end.exec(this.#said.slice(from)) ?? (this.#child.exitCode === null ? undefined : [])
    const found = await until(`the end of ${line}`, ended, within)
    return { code: Number(found[1] ?? -1), output: this.#said.slice(from).replace(end, '') }
  }

  /** Types a line that goes on running into another window, with the same variables and folder. */
  async serve(line: string, sockets: readonly number[] = []): Promise<Served> {
    const file = `/tmp/window-${process.pid}-${this.#options.user}-${++this.#count}`
    await this.type(`{ declare -px; declare -f; printf 'cd %q\\n' "$PWD"; } > ${file} 2> /dev/null`)
    return new Served(this.#t, this.#spawn(`. ${file} 2> /dev/null; ${line}`, sockets), line)
  }

  #spawn(script: string, sockets: readonly number[] = []): ChildProcess {
    const { user, cwd, env } = this.#options
    const home = user === 'root' ? '/root' : `/home/${user}`
    const variables = {
      ...env,
      ...trusted(),
      PATH,
      HOME: home,
      USER: user,
      SHELL: '/bin/bash',
      START: cwd,
      LANG: 'C.UTF-8',
    }
    const child = spawn('chroot', [`--userspec=${user}:${user}`, this.#folder, '/bin/bash', '-c', script], {
      env: variables,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...sockets],
    })
    this.#t.teardown(() => killGroup(child))
    return child
  }
}

function trusted(): Record<string, string> {
  if (!process.env.NODE_EXTRA_CA_CERTS) return {}
  return { NODE_EXTRA_CA_CERTS: AUTHORITIES, SSL_CERT_FILE: AUTHORITIES, npm_config_cafile: AUTHORITIES }
}

/** Something that runs until it is stopped. */
export class Served {
  readonly line: string
  readonly #child: ChildProcess
  said = ''

  constructor(t: Test, child: ChildProcess, line: string) {
    this.line = line
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (octets: Buffer) => (this.said += octets))
    t.teardown(() => this.stop())
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async says(text: string): Promise<void> {
    await until(`"${text}" of ${this.line}`, () => this.said.includes(text) || this.hasEnded, 120_000)
    if (!this.said.includes(text)) throw new Error(`${this.line} ended: ${this.said}`)
  }

  /** As a service manager does: a signal to the service alone, which is what the shell and npm wait for. */
  async stop(): Promise<void> {
    if (this.hasEnded) return
    const found = spawnSync(
      'pgrep',
      ['-g', String(this.#child.pid), '-f', 'postrider(\\.ts|\\.js)? up|bin/postrider$|/src/.*\\.ts'],
      {
        encoding: 'utf8',
      },
    ).stdout.split('\n')
    for (const pid of found.filter(Boolean).slice(0, 1)) process.kill(Number(pid), 'SIGTERM')
    await until(`the end of ${this.line}`, () => this.hasEnded, 60_000).catch(() => killGroup(this.#child))
  }
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid as number), 'SIGKILL')
  } catch {
    // It has ended.
  }
}
