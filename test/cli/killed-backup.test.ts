import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupName, createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { scheduleBackups } from '../../packages/cli/src/backup/schedule.ts'
import { startEmbeddedPostgres } from '../../packages/cli/src/start-postgres.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'
import { until } from '../helpers/until.ts'
import { examined, foundBy } from './doctor.ts'
import { answered, begin, commandLine, descendantsOf, postrider } from './postrider.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'killed-'))
const env = { DATA_DIR: join(folder, 'data'), BACKUP_DIR: join(folder, 'backups') }
await postrider(env, 'migrate')
const config = readConfig(env)
const { backups } = config
if (!backups) throw new Error('no backups')
const server = await startEmbeddedPostgres({ dataDir: env.DATA_DIR, role: 'up', backups: backups.address })
const sql = openDatabase({ url: server.url, name: 'test', connections: 2 })
const core = createCore({ sql, config, log: createLog('test', 'silent') })
t.teardown(async () => {
  await core.close()
  await sql.end({ timeout: 1 })
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const namesIn = (part: 'base' | 'pieces') => readdirSync(join(env.BACKUP_DIR, part))
const pieces = () =>
  readdirSync(env.BACKUP_DIR).includes('pieces') &&
  namesIn('pieces').flatMap((name) => readdirSync(join(env.BACKUP_DIR, 'pieces', name)))
const age = async () => (await core.serviceFigures()).backup_age_seconds

/** Takes a backup when one is due, as "postrider up" does from its start on. */
function schedule() {
  const lines: string[] = []
  const ended = scheduleBackups({
    config: backups as NonNullable<typeof backups>,
    env: { ...BARE_ENVIRONMENT, ...env },
    report: (line) => lines.push(line),
  })
  t.teardown(() => ended.stop())
  return { lines, stop: () => ended.stop() }
}

t.test('one that is killed in the middle is no backup, and doctor and metrics say that there is none', async (t) => {
  const { lines, stop } = schedule()
  await until('its first piece', () => (pieces() || []).length > 0, 60_000)
  const running = descendantsOf(process.pid).filter((pid) => / backup .*--json/.test(commandLine(pid)))
  t.equal(running.length, 1)
  for (const pid of running) process.kill(pid, 'SIGKILL')
  await until('it to be reported', () => lines.length > 0)
  t.strictSame(lines, [`the backup to ${env.BACKUP_DIR} failed: the program ended with SIGKILL`])
  stop()
  t.notOk(readdirSync(env.BACKUP_DIR).includes('base'))
  t.match(
    foundBy(await examined(env), 'base backup'),
    /^bad: \S+ has no base backup: nothing can be restored; fix: postrider backup /,
  )
  t.equal(await age(), Number.POSITIVE_INFINITY)
  const restore = await postrider(env, 'restore', env.BACKUP_DIR, '--into', join(folder, 'restored'))
  t.equal(restore.code, 1)
  t.match(restore.stderr, 'has no complete base backup')
})

t.test('the next one is whole, and deletes what was left', async (t) => {
  const left = namesIn('pieces')
  t.equal(left.length, 1)
  // Names are by the second, and this one is to have another.
  await until('the second of its name to be over', () => backupName(new Date().toISOString()) !== left[0])
  const { lines } = schedule()
  const isComplete = () =>
    readdirSync(env.BACKUP_DIR).includes('base') && namesIn('base').some((name) => name.endsWith('.json'))
  await until('a base backup', isComplete, 60_000)
  t.strictSame(lines, [])
  t.strictSame(
    namesIn('pieces').map((name) => `${name}.json`),
    namesIn('base'),
  )
  t.notOk(namesIn('pieces').includes(left[0] as string))
  t.match(foundBy(await examined(env), 'base backup'), /^ok: the last one was complete at/)
})

t.test('one that is killed while an older one exists counts neither for doctor nor for --keep', async (t) => {
  const [kept = ''] = namesIn('base')
  const count = (pieces() || []).length
  const killed = begin(env, ['backup', env.BACKUP_DIR, '--keep', '1'])
  await until('its first piece', () => (pieces() || []).length > count, 60_000)
  killed.kill()
  t.equal((await killed.ended).code, 'SIGKILL')
  t.strictSame(namesIn('base'), [kept])
  t.equal(namesIn('pieces').length, 2)
  // As a kill between the content of the summary and its name leaves it.
  writeFileSync(join(env.BACKUP_DIR, 'base', '20200101T000000Z.json.0123abcd.new'), '{"startedAt": ')
  t.match(foundBy(await examined(env), 'base backup'), /^ok: the last one was complete at/)
  t.match(await answered(env, 'backup', 'verify', env.BACKUP_DIR), { backup: kept.replace('.json', ''), problems: [] })
  const { name, pruned } = await answered<{ name: string; pruned: unknown }>(
    env,
    'backup',
    env.BACKUP_DIR,
    '--keep',
    '2',
  )
  t.match(pruned, { backups: 0 })
  t.strictSame(namesIn('base'), [kept, `${name}.json`])
  t.strictSame(namesIn('pieces'), [kept.replace('.json', ''), name])
})
