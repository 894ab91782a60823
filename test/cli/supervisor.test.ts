import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { watchLives } from '../../packages/cli/src/supervision/lives.ts'
import { readMainThread } from '../../packages/cli/src/supervision/main-thread.ts'
import { supervise } from '../../packages/cli/src/supervisor.ts'
import { freePorts } from '../helpers/ports.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'
import { until } from '../helpers/until.ts'
import { isAlive } from './postrider.ts'

const FOLDER = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'supervisor-'))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Signs of life come every 50 ms here; hung is who shows none for 2 s. */
const PATIENCE = { every: 100, silent: 20, starting: 100, stopping: 20, draining: 60 }
const LIVES = "setInterval(() => process.send('alive'), 50); process.send('alive'); process.send('ready');\n"
const ENDS = "process.on('disconnect', () => process.exit(0)); process.on('SIGTERM', () => process.exit(0));\n"

function program(name: string, code: string): { name: string; file: string } {
  const file = join(FOLDER, `${name}.mjs`)
  writeFileSync(file, code)
  return { name, file }
}

interface Watched {
  readonly lines: string[]
  /** How often it was started, by the lines of its ends. */
  ends(name: string): number
}

async function watch(
  t: Test,
  programs: readonly { name: string; file: string }[],
  onLine: (line: string) => void = () => {},
): Promise<Watched> {
  const lines: string[] = []
  const report = (line: string): void => {
    lines.push(line)
    onLine(line)
  }
  const supervisor = supervise({ programs, env: {}, report, patience: PATIENCE })
  t.teardown(() => supervisor.stop())
  await supervisor.started
  return { lines, ends: (name) => lines.filter((line) => line.startsWith(`${name} ended`)).length }
}

t.test('a process whose main loop spins, or that is stopped, is ended and started again; others stay', async (t) => {
  const { lines, ends } = await watch(t, [
    program('steady', LIVES + ENDS),
    // Deaf to SIGTERM, as a spinning loop is to everything.
    program('spinning', `${LIVES}${ENDS}setTimeout(() => { for (;;); }, 300)`),
    program('stopped', `${LIVES}${ENDS}setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 300)`),
  ])
  await until('both to be replaced', () => ends('spinning') > 0 && ends('stopped') > 0, 60_000)
  for (const name of ['spinning', 'stopped']) {
    const own = lines.filter((line) => line.startsWith(name))
    t.match(own[0], new RegExp(`^${name} hangs \\(no heartbeat for \\d+(?:\\.\\d)? s\\); stopping it$`))
    t.match(own[1], new RegExp(`^${name} ended \\(SIGKILL\\); restarting it$`))
  }
  t.notOk(lines.some((line) => line.startsWith('steady')))
})

t.test('one that gets no processor is not taken for one that hangs, for forty times as long', async (t) => {
  const { file } = program('starved', "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000)")
  const child = fork(file)
  t.teardown(() => child.kill('SIGKILL'))
  let [reads, seconds, each] = [0, 5, 0]
  const read = () => {
    reads++
    return { isWaitingToRun: true, seconds: (seconds += each) }
  }
  const lines: string[] = []
  const lives = watchLives({ ...PATIENCE, every: 5, starting: 20 }, (line) => void lines.push(line), read)
  t.teardown(() => lives.stop())
  lives.add('starved', child)
  await until('ten times the patience', () => reads > 200)
  t.strictSame(lines, [])
  // A fiftieth of a processor counts as the twenty-fifth part of a tick.
  each = 0.005 / 50
  const before = reads
  await until('it to hang', () => lines.length > 0)
  t.ok(reads - before > 300, `${reads - before} ticks`)
  t.match(lines[0], /^starved hangs/)
})

t.test('one that waits for a disk that no longer answers is ended, too', async (t) => {
  const { file } = program('stuck', 'setInterval(() => {}, 1000)')
  const child = fork(file)
  t.teardown(() => child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const lines: string[] = []
  let reads = 0
  const read = () => {
    reads++
    return { isWaitingToRun: true, seconds: 5 }
  }
  const patience = { every: 1, silent: 5, starting: 5, stopping: 5, draining: 15 }
  const lives = watchLives(patience, (line) => void lines.push(line), read)
  t.teardown(() => lives.stop())
  lives.add('stuck', child)
  await until('it to hang', () => lines.length > 0)
  t.ok(reads > 5 * 30, `${reads} ticks`)
  t.match(await ended, /^SIG(?:TERM|KILL)$/)
})

t.test('the state of the main thread is read from the system', { skip: process.platform !== 'linux' }, async (t) => {
  const own = readMainThread(process.pid)
  t.equal(own?.isWaitingToRun, true)
  t.ok((own?.seconds ?? 0) > 0)
  const { file } = program('(a) b', 'setInterval(() => {}, 100_000)')
  const child = fork(file)
  t.teardown(() => child.kill('SIGKILL'))
  await until('it to wait', () => readMainThread(child.pid as number)?.isWaitingToRun === false)
  t.equal(readMainThread(child.pid as number, '/nowhere'), undefined)
})

t.test('one that wakes up when it is asked to stop may finish what it has in flight', async (t) => {
  const drains = "process.on('SIGTERM', () => setTimeout(() => process.exit(3), 700));\n"
  const pidFile = join(FOLDER, 'waking.pid')
  const stops = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
    setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 300)`
  const wake = (line: string): void => {
    if (line.startsWith('waking hangs')) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGCONT')
  }
  const { lines, ends } = await watch(t, [program('waking', LIVES + drains + stops)], wake)
  await until('it to be replaced', () => ends('waking') > 0, 60_000)
  t.match(lines[1], /^waking ended \(exit 3\)/)
})

t.test('a machine that slept wakes up with everybody alive', async (t) => {
  const file = join(FOLDER, 'sleeper.ts')
  const { file: child } = program('sleeping', LIVES + ENDS)
  const module = JSON.stringify(join(ROOT, 'packages/cli/src/supervisor.ts'))
  writeFileSync(
    file,
    `import { supervise } from ${module}\n` +
      `const programs = [{ name: 'sleeping', file: ${JSON.stringify(child)} }]\n` +
      `const report = (line: string) => console.log(line)\n` +
      `const all = supervise({ programs, env: {}, report, patience: ${JSON.stringify(PATIENCE)} })\n` +
      `await all.started\nconsole.log('started')\nsetInterval(() => console.log('tick'), 100)\n`,
  )
  const sleeper = spawn(process.execPath, [file], { cwd: ROOT, env: BARE_ENVIRONMENT, detached: true })
  t.teardown(() => process.kill(-(sleeper.pid as number), 'SIGKILL'))
  let said = ''
  sleeper.stdout.on('data', (octets: Buffer) => (said += octets))
  await until('it to start', () => said.includes('started'), 60_000)
  // All of the group, as a lid that is closed does it; three times as long as a silence may last.
  process.kill(-(sleeper.pid as number), 'SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 6000))
  const before = said.length
  process.kill(-(sleeper.pid as number), 'SIGCONT')
  await until('some time awake', () => said.slice(before).split('tick').length > 20, 60_000)
  t.notMatch(said, /hangs|ended/)
})

t.test('processes that are to be replaced before they are ready, and twice, are replaced once they are', async (t) => {
  const pidsIn = (name: string) =>
    readFileSync(join(FOLDER, `${name}.pids`), 'utf8')
      .trim()
      .split('\n')
      .map(Number)
  const slow = (name: string) =>
    program(
      name,
      `process.getBuiltinModule('node:fs').appendFileSync(${JSON.stringify(join(FOLDER, `${name}.pids`))}, process.pid + '\\n')
      process.on('message', () => process.exit(0))
      ${ENDS}setTimeout(() => { ${LIVES} }, 500)`,
    )
  const lines: string[] = []
  const report = (line: string) => void lines.push(line)
  const supervisor = supervise({ programs: [slow('one'), slow('two')], env: {}, report, patience: PATIENCE })
  t.teardown(() => supervisor.stop())
  const rounds = [supervisor.roll(), supervisor.roll()]
  await until(
    'the first to be replaced',
    () => existsSync(join(FOLDER, 'one.pids')) && pidsIn('one').length > 1,
    60_000,
  )
  rounds.push(supervisor.roll(), supervisor.roll())
  await Promise.all([supervisor.started, ...rounds])
  t.strictSame(lines, ['all processes are replaced', 'all processes are replaced'])
  for (const name of ['one', 'two']) {
    const pids = pidsIn(name)
    t.equal(pids.length, 3, 'calls during one replacement are one call')
    t.strictSame(pids.map(isAlive), [false, false, true])
  }
})

t.test('the processes of the service show signs of life, also while their database is away', async (t) => {
  const [nobody, port] = (await freePorts(2)) as [number, number]
  const env = {
    ...BARE_ENVIRONMENT,
    DATABASE_URL: `postgres://nobody@127.0.0.1:${nobody}/none`,
    DATA_DIR: FOLDER,
    API_PORT: String(port),
    LOG_LEVEL: 'silent',
  }
  const children = [
    'packages/api/src/server.ts',
    'packages/relay/src/server.ts',
    'packages/delivery/src/worker.ts',
  ].map((file) => fork(join(ROOT, file), [], { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const signs = children.map(signsOf)
  await until('three signs of each', () => signs.every(({ count }) => count >= 3), 60_000)
  t.ok(children.every(({ exitCode }) => exitCode === null))
})

function signsOf(child: ChildProcess): { count: number } {
  const signs = { count: 0 }
  child.on('message', (message) => {
    if (message === 'alive') signs.count++
  })
  return signs
}
