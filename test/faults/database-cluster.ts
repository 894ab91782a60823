import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '@postrider/core'
import type { Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { until } from '../helpers/until.ts'

/** The file that docs/high-availability.md has operators copy. */
const TEMPLATE = readFileSync(
  fileURLToPath(new URL('../../deploy/high-availability/patroni.yml', import.meta.url)),
  'utf8',
)
export const BINARIES = '/usr/lib/postgresql/15/bin'
const PASSWORD = 'of-the-test'
const NODES = 3

/** What a machine lacks for a cluster; undefined if nothing. Debian: apt-get install patroni etcd-server etcd-client postgresql-15. */
export function missingForCluster(): string | undefined {
  return ['/usr/bin/patroni', '/usr/bin/etcd', `${BINARIES}/postgres`].find((file) => !existsSync(file))
}

export interface Node {
  readonly name: string
  readonly port: number
  readonly restPort: number
  /** Ends the whole host at once: Patroni and the server with all its processes. */
  kill(): void
  /** The whole host stops to run, as a machine whose memory is being moved; its sockets stay open. */
  freeze(): void
  thaw(): void
  start(): void
  /** `systemctl restart patroni`: the server stops and starts with it. */
  restart(): Promise<void>
}

export interface Cluster {
  /** How often Patroni of the primary had to be restarted, since it did not record its synchronous standby. */
  readonly restarts: number
  /** With all hosts, for DATABASE_URL. */
  readonly url: string
  readonly nodes: readonly Node[]
  /** Waits until there is a primary, other than `not`, with a synchronous standby, and all nodes run. */
  whole(not?: Node): Promise<Node>
  /** Waits for what needs a synchronous standby, and restarts Patroni of a primary that does not record one within `patience` milliseconds. */
  recorded<T>(what: string, look: () => Promise<T | undefined | false>, patience: number, within: number): Promise<T>
  /** A planned change of the primary. */
  switchOver(from: Node): Promise<void>
}

/** Postgres does not run as root. */
export const asPostgres = (command: string, args: readonly string[]): [string, string[]] =>
  process.getuid?.() === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--init-groups', command, ...args]]
    : [command, [...args]]

/** Three database servers under Patroni and an etcd, on loopback, as deploy/high-availability has them. */
export async function startCluster(t: Test): Promise<Cluster> {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'cluster-'))
  chmodSync(folder, 0o755)
  if (process.env.TEST_FOLDER) chmodSync(process.env.TEST_FOLDER, 0o755)
  const [clientPort = 0, peerPort = 0, ...rest] = await freePorts(2 + 2 * NODES)
  const started = new Set<ChildProcess>()
  const spawned = (home: string, command: string, args: readonly string[]): ChildProcess => {
    // A group of its own, so that all of it can be ended and frozen.
    const log = openSync(process.env.CLUSTER_LOG ?? join(folder, 'log'), 'a')
    const child = spawn(...asPostgres(command, args), {
      stdio: ['ignore', log, log],
      detached: true,
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, LC_ALL: 'C' },
    })
    started.add(child)
    child.once('exit', () => started.delete(child))
    return child
  }
  const nodes: (Node & { stop(): void })[] = []
  t.teardown(async () => {
    for (const node of nodes) node.stop()
    for (const child of started) signal(child.pid as number, 'SIGKILL')
  })
  const etcd = `http://127.0.0.1:${clientPort}`
  const store = owned(join(folder, 'etcd'))
  spawned(store, '/usr/bin/etcd', [
    ...['--name', 'one', '--data-dir', join(store, 'data'), '--enable-v2'],
    ...['--listen-client-urls', etcd, '--advertise-client-urls', etcd],
    ...[
      '--listen-peer-urls',
      `http://127.0.0.1:${peerPort}`,
      '--initial-advertise-peer-urls',
      `http://127.0.0.1:${peerPort}`,
    ],
    ...['--initial-cluster', `one=http://127.0.0.1:${peerPort}`],
  ])
  await until('etcd', () =>
    fetch(`${etcd}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  for (let at = 0; at < NODES; at++) {
    const name = `db${at + 1}`
    const [port = 0, restPort = 0] = rest.slice(2 * at, 2 * at + 2)
    const home = owned(join(folder, name))
    const file = join(folder, `${name}.yml`)
    writeFileSync(file, configuration({ name, port, restPort, home, clientPort }), { mode: 0o644 })
    nodes.push(makeNode({ name, port, restPort, home, start: () => spawned(home, '/usr/bin/patroni', [file]) }))
  }
  for (const node of nodes) node.start()
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')
  const cluster = {
    url: `postgres://postgres:${PASSWORD}@${hosts}/postrider?target_session_attrs=primary`,
    nodes,
    restarts: 0,
    whole: (not?: Node) =>
      cluster.recorded(
        'a primary with a synchronous standby and another one',
        () => wholeOf(nodes, not),
        WHOLE_WITHIN_MS,
        3 * WHOLE_WITHIN_MS,
      ),
    async recorded<T>(what: string, look: () => Promise<T | undefined | false>, patience: number, within: number) {
      let deadline = Date.now() + patience
      return until(
        what,
        async () => {
          const found = await look()
          if (found || Date.now() < deadline) return found
          deadline = Date.now() + patience
          for (const node of nodes) {
            if (!(await hasLease(node))) continue
            cluster.restarts++
            await node.restart()
          }
          return undefined
        },
        within,
      )
    },
    async switchOver(from: Node) {
      const body = JSON.stringify({ leader: from.name })
      await until(
        'the switchover to be taken',
        () =>
          fetch(`http://127.0.0.1:${from.restPort}/switchover`, { method: 'POST', body }).then(
            ({ ok }) => ok,
            () => false,
          ),
        60_000,
      )
    },
  }
  const first = await cluster.whole()
  const admin = openDatabase({ url: serverUrl(first, 'postgres'), name: 'test', connections: 1 })
  await admin.unsafe('create database postrider')
  await admin.end()
  await Promise.all(nodes.map(hasDatabase))
  return cluster
}

/** Makes a folder that belongs to the user of Postgres. */
export function owned(path: string): string {
  mkdirSync(path)
  if (process.getuid?.() === 0)
    chownSync(path, Number(execFileSync('id', ['-u', 'postgres'])), Number(execFileSync('id', ['-g', 'postgres'])))
  return path
}

function configuration({ name, port, restPort, home, clientPort }: Record<string, string | number>): string {
  return TEMPLATE.replace('name: db1', `name: ${name}`)
    .replaceAll('10.0.0.1:8008', `127.0.0.1:${restPort}`)
    .replace('10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379', `127.0.0.1:${clientPort}`)
    .replaceAll('10.0.0.1:5432', `127.0.0.1:${port}`)
    .replace('/var/lib/postgresql/15/postrider', `${home}/data`)
    .replaceAll('10.0.0.0/24', '127.0.0.1/32')
    .replaceAll(/change-this-\d/g, PASSWORD)
    .replace('  pg_hba:', `  parameters:\n    unix_socket_directories: ${home}\n  pg_hba:`)
}

/** Milliseconds in which a node that starts follows the primary, and Patroni records a synchronous standby. */
const WHOLE_WITHIN_MS = 120_000

interface MadeOf {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly home: string
  readonly start: () => ChildProcess
}

function makeNode({ name, port, restPort, home, start }: MadeOf): Node & { stop(): void } {
  let patroni: ChildProcess | undefined
  const all = (what: NodeJS.Signals) => {
    const postmaster = postmasterOf(home)
    // The processes of a server are in a group of their own.
    if (postmaster !== undefined) signal(postmaster, what)
    if (patroni?.pid !== undefined) signal(patroni.pid, what)
  }
  return {
    name,
    port,
    restPort,
    kill: () => all('SIGKILL'),
    freeze: () => all('SIGSTOP'),
    thaw: () => all('SIGCONT'),
    start: () => void (patroni = start()),
    async restart() {
      const old = patroni as ChildProcess
      const ended = once(old, 'exit')
      old.kill('SIGTERM')
      await ended
      patroni = start()
    },
    stop: () => all('SIGKILL'),
  }
}

function postmasterOf(home: string): number | undefined {
  try {
    return Number(readFileSync(join(home, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}

/** Signals a group, and each session of a server, which leads a group of its own. */
function signal(pid: number, what: NodeJS.Signals): void {
  const children = childrenOf(pid)
  for (const one of [pid, ...children]) {
    for (const target of [-one, one]) {
      try {
        process.kill(target, what)
      } catch {
        // It has ended, or leads no group.
      }
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export function serverUrl({ port }: Node, database = 'postrider'): string {
  return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`
}

async function hasDatabase(node: Node): Promise<void> {
  const sql = openDatabase({ url: serverUrl(node), name: 'test', connections: 1 })
  await until(`the database on ${node.name}`, () =>
    sql`select`.then(
      () => true,
      () => false,
    ),
  )
  await sql.end()
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** The members, as etcd has them: a standby that is not yet synchronous there is not promoted. Undefined if this node does not respond. */
async function membersBy({ restPort }: Node): Promise<readonly Member[] | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(1000) })
    return ((await response.json()) as { members: Member[] }).members
  } catch {
    return undefined
  }
}

/**
 * The primary, once it has a synchronous standby that may take its destination, and all nodes run: one that starts while the primary is lost follows the
 * next one a minute later, or more (docs/high-availability.md). A node that was frozen may still have an old view of the members, so the primary itself
 * must say that it has the lease.
 */
async function wholeOf(nodes: readonly Node[], not?: Node): Promise<Node | undefined> {
  for (const node of nodes) {
    const members = (await membersBy(node)) ?? []
    const running = members.filter(({ state }) => ['running', 'streaming'].includes(state))
    const primary = running.find(({ role }) => role === 'leader')
    const isWhole = running.length === NODES && running.some(({ role }) => role === 'sync_standby')
    const found = isWhole && nodes.find(({ name }) => name === primary?.name)
    if (found && found !== not && (await hasLease(found))) return found
  }
  return undefined
}

async function hasLease({ restPort }: Node): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${restPort}/primary`, { signal: AbortSignal.timeout(1000) }).catch(
    () => undefined,
  )
  return response?.status === 200
}
