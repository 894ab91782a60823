import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeTemporaryFolder } from '../../packages/cli/src/backup/temporary-folder.ts'
import { until } from '../helpers/until.ts'
import { answered, begin, commandLine, postrider, type Ran } from './postrider.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'interrupted-'))
const TMPDIR = join(folder, 'tmp')
mkdirSync(TMPDIR)
const env = { DATA_DIR: join(folder, 'data'), BACKUP_DIR: join(folder, 'backups'), TMPDIR }
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
await postrider(env, 'migrate')
await answered(env, 'backup', env.BACKUP_DIR, '--with-secret')
await answered(env, 'account', 'create', '--name', 'later')

/** Runs a command and sends it the signal when it says this. */
async function interrupted(signal: NodeJS.Signals, line: string, ...command: string[]): Promise<Ran> {
  const running = begin(env, command)
  await running.says(line)
  running.kill(signal)
  return running.ended
}

/** The servers on a folder below this, which end with the process that started them. */
const serversEnd = () =>
  until(
    'the servers to end',
    () => !readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && commandLine(Number(pid)).includes(folder)),
    60_000,
  )

t.test('a verify that is interrupted leaves no copy of the database', async (t) => {
  const { code, stderr } = await interrupted(
    'SIGINT',
    'replaying the write-ahead log',
    'backup',
    'verify',
    env.BACKUP_DIR,
  )
  t.equal(code, 130)
  t.match(stderr, /postrider: interrupted; \S+postrider-verify-\w+ is deleted\n$/)
  await serversEnd()
  t.strictSame(readdirSync(TMPDIR), [])
})

t.test('what a verify leaves that was killed is deleted by the next one, once its process has ended', async (t) => {
  const verify = begin(env, ['backup', 'verify', env.BACKUP_DIR])
  await verify.says('replaying the write-ahead log')
  const [left = ''] = readdirSync(TMPDIR)
  const lines: string[] = []
  process.env.TMPDIR = TMPDIR
  t.teardown(() => delete process.env.TMPDIR)
  const beside = makeTemporaryFolder((line) => lines.push(line))
  t.strictSame(lines, [], 'not while it runs')
  verify.kill()
  t.equal((await verify.ended).code, 'SIGKILL')
  await serversEnd()
  t.ok(existsSync(join(TMPDIR, left)))
  const next = makeTemporaryFolder((line) => lines.push(line))
  t.strictSame(lines, [`deleted ${join(TMPDIR, left)}, which a verify that was killed had left`])
  t.strictSame(
    readdirSync(TMPDIR)
      .map((name) => join(TMPDIR, name))
      .sort(),
    [beside, next].sort(),
  )
  for (const folder of [beside, next]) rmSync(folder, { recursive: true })
})

t.test('a restore that is interrupted leaves nothing', async (t) => {
  const into = join(folder, 'new', 'restored')
  const { code, stderr } = await interrupted(
    'SIGINT',
    'replaying the write-ahead log',
    'restore',
    env.BACKUP_DIR,
    '--into',
    into,
  )
  t.equal(code, 130)
  t.match(stderr, /postrider: interrupted; \S+new is deleted\n$/)
  await serversEnd()
  t.notOk(existsSync(join(folder, 'new')))
})

t.test('a restore that is killed is no installation, and says how it is repeated', async (t) => {
  const into = join(folder, 'killed')
  const restore = ['restore', env.BACKUP_DIR, '--into', into] as const
  const killed = begin(env, restore)
  t.teardown(() => killed.kill())
  const server = join(into, 'restoring', 'postgres', 'postmaster.pid')
  await until('its server', () => existsSync(server), 60_000)
  // Stopped, so that it dies at the worst moment on every machine: the database is complete, its mail is not held.
  killed.kill('SIGSTOP')
  await until('its database', () => /^ready *$/m.test(readFileSync(server, 'utf8')), 60_000)
  killed.kill()
  t.equal((await killed.ended).code, 'SIGKILL')
  await serversEnd()
  t.strictSame(readdirSync(into), ['restoring'])
  const said =
    /^postrider: a restore to \S+killed was interrupted, or is still running: if it was interrupted, delete everything in this folder, then repeat the restore\n$/
  t.match(await postrider(env, ...restore), { code: 1, stderr: said })
  t.match(await postrider({ DATA_DIR: into }, 'setup'), { code: 1, stderr: said })
  t.strictSame(readdirSync(join(into, 'restoring')).includes('postgres'), true, 'nothing is deleted')
  t.match((await postrider({ DATA_DIR: into }, 'account', 'list')).code, /[^0]/)
  rmSync(into, { recursive: true })
  await answered(env, ...restore)
  t.match(await answered({ DATA_DIR: into }, 'account', 'list'), [{ name: 'later' }])
  t.match((await postrider(env, ...restore)).stderr, 'is not empty', 'a complete one is not to be deleted')
})
