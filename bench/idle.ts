// The processes run from a bundle, as with `npm start`.
import '../packages/launch/src/build.ts'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { embeddedUrlFile, openDatabase } from '@postrider/core'
import { COMPILE_CACHE } from '@postrider/launch'
import { freePort, ROOT, start, stopAll, until } from './harness/processes.ts'
import { type Usage, usageOf } from './usage.ts'

/**
 * The cost of `postrider up` without any use: processes, memory (PSS: shared pages are divided among those who share them) and
 * processor time per minute. It runs on the database of its own in an empty folder, with the demo account and after one delivered message.
 *
 * `node bench/idle.ts [--settle SECONDS] [--seconds N] [--statements] [--limit MB]`: `--statements` adds those of Postgres per minute, which
 * need a library that takes 5 MB; `--limit` runs it in a memory group of this size (cgroup version 1, as root).
 */
const { values: options } = parseArgs({
  options: {
    settle: { type: 'string', default: '120' },
    seconds: { type: 'string', default: '120' },
    statements: { type: 'boolean', default: false },
    limit: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const folder = mkdtempSync(join(tmpdir(), 'postrider-idle-'))
const dataDir = join(folder, 'data')
// A copy of Node: other programs of this machine that run it would have a part of its memory.
const node = join(folder, 'node')
copyFileSync(process.execPath, node)
const group = options.limit === undefined ? undefined : makeGroup(Number(options.limit))

try {
  const first = await startUp()
  console.log(`first start: ${first.seconds.toFixed(1)} s`)
  await first.up.stop()
  if (options.statements)
    appendFileSync(join(dataDir, 'postgres/postgresql.conf'), "\nshared_preload_libraries = 'pg_stat_statements'\n")
  const { up, seconds: later, apiUrl } = await startUp()
  console.log(`later start: ${later.toFixed(1)} s`)
  await send(apiUrl, keyIn(first.said()))
  await sleep(Number(options.settle) * 1000)
  const sql = options.statements ? await statements() : undefined
  await sql?.reset()
  const before = usageOf(up.pid)
  await sleep(seconds * 1000)
  const after = usageOf(up.pid)
  const lines = await sql?.read()
  show(before, after)
  for (const line of lines ?? []) console.log(line)
  if (group)
    console.log(
      `most memory in the group, with its files: ${Math.round(group.most() / 1048576)} MiB; killed: ${group.killed()}`,
    )
} finally {
  await stopAll()
  group?.remove()
  rmSync(folder, { recursive: true, force: true })
}

async function startUp() {
  const names = ['API', 'RELAY', 'RELAY_TLS', 'RETURNS', 'SANDBOX_SMTP', 'SANDBOX_HTTP']
  const ports: string[] = []
  for (const _ of names) ports.push(String(await freePort()))
  const env = {
    DATA_DIR: dataDir,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...Object.fromEntries(names.map((name, at) => [`${name}_PORT`, ports[at] as string])),
  }
  const began = performance.now()
  const command = [node, join(ROOT, 'packages/cli/src/postrider.ts'), 'up']
  const [program = '', ...args] = group ? ['sh', '-c', group.enter, 'sh', ...command] : command
  let said = ''
  const up = await start(program, args, { env, output: (text) => void (said += text) })
  await until('postrider up', () => /^Running\./m.test(said))
  return { up, seconds: (performance.now() - began) / 1000, apiUrl: `http://127.0.0.1:${ports[0]}`, said: () => said }
}

function keyIn(said: string): string {
  const key = /shown once\): (\S+)/.exec(said)?.[1]
  if (!key) throw new Error(`no key in ${said}`)
  return key
}

/** A message that is delivered to the sandbox, so that what the first one loads is loaded. */
async function send(apiUrl: string, key: string): Promise<void> {
  const response = await fetch(`${apiUrl}/v2/sendEmail`, {
    method: 'POST',
    headers: { api_key: key, 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ recipient: 'you@example.org' }],
      from: { fromEmail: 'hello@demo.example' },
      subject: 'One',
      content: '<p>One</p>',
    }),
  })
  if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
}

function show(before: ReadonlyMap<number, Usage>, after: ReadonlyMap<number, Usage>): void {
  const rows = new Map<string, { processes: number; pss: number; ms: number }>()
  for (const [pid, { name, pss, ms }] of after) {
    const row = rows.get(name) ?? { processes: 0, pss: 0, ms: 0 }
    rows.set(name, row)
    row.processes++
    row.pss += pss
    row.ms += ms - (before.get(pid)?.ms ?? 0)
  }
  const all = { processes: 0, pss: 0, ms: 0 }
  console.log('\nprocesses  PSS MiB  ms/minute')
  for (const [name, row] of [...rows].sort(([, a], [, b]) => b.pss - a.pss)) {
    for (const key of ['processes', 'pss', 'ms'] as const) all[key] += row[key]
    console.log(lineOf(name, row))
  }
  console.log(lineOf('all', all))
}

function lineOf(name: string, { processes, pss, ms }: { processes: number; pss: number; ms: number }): string {
  const perMinute = Math.round((ms * 60) / seconds)
  return `${String(processes).padStart(9)}  ${(pss / 1024).toFixed(1).padStart(7)}  ${String(perMinute).padStart(9)}  ${name}`
}

async function statements() {
  const url = readFileSync(embeddedUrlFile(dataDir), 'utf8').trim()
  const sql = openDatabase({ url, name: 'idle', connections: 1 })
  await sql`create extension if not exists pg_stat_statements`
  return {
    reset: () => sql`select pg_stat_statements_reset()`,
    async read(): Promise<string[]> {
      const rows = await sql<{ calls: number; ms: number; query: string }[]>`
        select calls::int, total_exec_time as ms, query from pg_stat_statements where calls > 1 order by calls desc limit 60`
      const [sum] = await sql<{ calls: number; ms: number }[]>`
        select sum(calls)::int as calls, sum(total_exec_time) as ms from pg_stat_statements`
      await sql.end()
      const line = ({ calls, ms, query }: { calls: number; ms: number; query: string }) =>
        `${((calls * 60) / seconds).toFixed(1).padStart(7)} ${((ms * 60) / seconds).toFixed(1).padStart(7)}  ${query.replaceAll(/\s+/g, ' ').slice(0, 120)}`
      return ['\ncalls/minute  ms/minute', ...rows.map(line), line({ calls: 0, ms: 0, ...sum, query: 'all' })]
    },
  }
}

/** A group in that of this process, whose processes and files take at most so many megabytes. */
function makeGroup(limitMb: number) {
  const own = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
  if (own === undefined) throw new Error('--limit needs the memory groups of cgroup version 1')
  const path = join('/sys/fs/cgroup/memory', own, `postrider-idle-${process.pid}`)
  mkdirSync(path)
  writeFileSync(join(path, 'memory.limit_in_bytes'), String(limitMb * 1024 * 1024))
  return {
    enter: `echo $$ > ${path}/cgroup.procs && exec "$@"`,
    most: () => Number(readFileSync(join(path, 'memory.max_usage_in_bytes'), 'utf8')),
    killed: () => Number(/oom_kill (\d+)/.exec(readFileSync(join(path, 'memory.oom_control'), 'utf8'))?.[1] ?? 0),
    remove: () => rmdirSync(path),
  }
}
