import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { basename, join } from 'node:path'
import type { Test } from 'tap'
import { upSettings } from '../../cli/postrider.ts'
import { until } from '../../helpers/until.ts'
import { type Bare, ROOT, type Served, type Shell } from './bare.ts'
import { blocksOf, treatmentOf } from './lines.ts'
import { debianFile, packageFile } from './packages.ts'
import { readUnit, startUnit } from './unit.ts'

const blocks = new Map(
  ['README.md', 'docs/installing.md', 'docs/upgrading.md'].flatMap(blocksOf).map((block) => [block.name, block.lines]),
)
const left = new Set(blocks.keys())

/** The blocks of a page that were not followed. Throws if a line of them is not known. */
export function notFollowed(page: string): string[] {
  const names = [...left].filter((name) => name.startsWith(`${page},`))
  for (const name of names) for (const line of blocks.get(name) ?? []) treatmentOf(line)
  return names
}

/** What a page leaves to its reader. */
type Placeholders = Readonly<Record<string, string>>

export interface Place {
  readonly bare: Bare
  readonly shell: Shell
  readonly placeholders?: Placeholders
}

export interface Followed {
  readonly output: string
  readonly served: readonly Served[]
}

/** Follows a block of a page line by line. */
export async function follow(t: Test, name: string, { bare, shell, placeholders = {} }: Place): Promise<Followed> {
  const lines = blocks.get(name)
  if (!lines) throw new Error(`there is no block ${name}`)
  left.delete(name)
  let output = ''
  const served: Served[] = []
  for (const line of lines) {
    const filled = Object.entries(placeholders).reduce((text, [from, to]) => text.replaceAll(from, to), line)
    if (filled.includes('…')) throw new Error(`nothing takes the place of … in ${line}`)
    const how = treatmentOf(line)
    if (typeof how === 'object') t.comment(`${line}: ${how.elsewhere}`)
    else if (how === 'serve') served.push(await serve(shell, filled))
    else if (how === 'units') served.push(...(await enable(t, bare, { shell, line: filled })))
    else {
      const began = performance.now()
      const { code, output: said } = await shell.type(filled)
      t.comment(`${filled.split('#')[0]?.trim()} (${Math.round(performance.now() - began)} ms)`)
      t.equal(
        code,
        how === 'report' ? 1 : 0,
        how === 'report' ? `${line}: the records are not published` : `${line}\n${said}`,
      )
      if (how === 'report') checkReport(t, said)
      output += said
    }
  }
  return { output, served }
}

async function serve(shell: Shell, line: string): Promise<Served> {
  const started = await shell.serve(line)
  if (!line.startsWith('node ')) await started.says('Running.')
  return started
}

/** `systemctl enable --now`, for which there is no systemd. Sockets are handed to the services that name them. */
async function enable(t: Test, bare: Bare, { shell, line }: { shell: Shell; line: string }): Promise<Served[]> {
  const { output } = await shell.type(`printf '%s\\n' ${line.replace('systemctl enable --now ', '')}`)
  const started: Served[] = []
  for (const name of output.trim().split('\n')) {
    if (name.endsWith('.socket')) await bindSocket(t, bare, name)
    else
      started.push(
        await startUnit(bare, { name: `${name.replace(/\.service$/, '')}.service`, root: shell, sockets: bound }),
      )
  }
  // Those of one process are of the type notify: systemctl waits for them.
  for (const one of started) await one.says(one.line.includes(' up') ? 'Running.' : '"started"')
  return started
}

let bound: Record<string, number> = {}
let boundPorts: Readonly<Record<string, string>> = {}

/** Where the sockets of these names are bound. */
export function bindAt(ports: Readonly<Record<string, string>>): void {
  boundPorts = ports
}

/** On a port that is free here, which the processes do not see. */
async function bindSocket(t: Test, bare: Bare, name: string): Promise<void> {
  const address = readUnit(bare, name).one('ListenStream')
  const port = boundPorts[name] as string
  t.match(address, /^[\d.]+:\d+$/)
  const socket = new BoundSocket({ host: '127.0.0.1', port: Number(port) })
  t.teardown(() => socket.close())
  bound = { ...bound, [name]: socket.fd() }
}

/** Nothing is wrong but what only the owner of example.com can mend, and each finding says what to do. */
export function checkReport(t: Test, report: string): void {
  const findings = [...report.matchAll(/^ {2}(bad|warn) +(.+?) {2,}(.*)(\n {20,}.*)*/gm)]
  for (const [text] of findings) t.match(text, /fix: /, text)
  t.comment(findings.map(([text]) => text).join('\n'))
  const faults = findings.filter(([, status]) => status === 'bad').map(([, , name]) => name)
  t.strictSame(
    faults.filter((name) => !OF_THE_OWNER.includes(name as string)),
    [],
    report,
  )
}

/** Its records are not published, and mail is not sent from where the tests run. */
const OF_THE_OWNER = ['public URL', 'HELO name', 'return path', 'outbound SMTP']

export async function isReady(t: Test, port: string | undefined): Promise<void> {
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('the API to be ready', ready, 60_000)
  t.equal((await fetch(`http://127.0.0.1:${port}/docs`)).status, 200)
}

export async function settings(): Promise<Record<string, string>> {
  const { DATA_DIR: _folder, ...ports } = await upSettings()
  return ports
}

/** A folder that everybody can enter: as root, Postgres runs as nobody in a chroot, which has no namespaces of users. */
export function homeOf(bare: Bare, user: string): string {
  if (user !== 'root') return `/home/${user}`
  mkdirSync(join(bare.folder, 'opt/mail'))
  return '/opt/mail'
}

/** The files of a release, and this commit as a checkout. */
export function deliver(bare: Bare, user: string, folder: string): void {
  const cwd = join(bare.folder, folder)
  for (const file of [packageFile(), debianFile()]) copyFileSync(file, join(cwd, basename(file)))
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, join(cwd, 'postrider')])
  execFileSync('chroot', [bare.folder, 'chown', '-R', `${user}:${user}`, folder])
}
