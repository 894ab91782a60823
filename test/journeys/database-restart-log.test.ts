import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { readHeartbeats } from '@postrider/core'
import t from 'tap'
import { makeTemplateDatabase } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/** What pino calls a warning; above it are errors. */
const WARN = 40

t.test('a restart of the database is one line of a log when it goes, and one when it is back', async (t) => {
  const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'restart-log-'))
  const server = await startEmbeddedPostgres({ dataDir })
  t.teardown(() => server.stop())
  await makeTemplateDatabase(server.url)
  const service = await makeService(t, {}, server.url)
  const names = ['api', 'relay', 'returns', 'delivery'] as const
  const processes = await Promise.all(names.map((name) => startProcess(t, name, service.env)))
  const worker = processes.at(-1)?.log ?? []
  const marks = processes.map(({ log }) => log.length)
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  const fallen = firstLine(file)
  // As a crash: recovery takes longer than a restart, and twenty loops of a worker try meanwhile.
  process.kill(fallen, 'SIGQUIT')
  await until('the server to be another', () => existsSync(file) && firstLine(file) !== fallen, 20_000)
  const beat = () =>
    readHeartbeats(service.sql)
      .then((all) => [...all.values()][0])
      .catch(() => undefined)
  const before = await until('the database to be back', beat, 20_000)
  await until('the worker to work again', async () => ((await beat()) ?? before) !== before, 20_000)
  await until('the worker to know it', () => worker.at(-1)?.msg !== 'not ready', 20_000)
  for (const [at, { name, log }] of processes.entries()) {
    const lines = log.slice(marks[at])
    const bad = lines.filter(({ level }) => Number(level) >= WARN).map(({ msg }) => msg)
    t.ok(bad.length <= 1, `${name}: ${bad.join(', ')}`)
    t.ok(lines.filter(({ msg }) => msg === 'ready').length <= 1, name)
  }
})

const firstLine = (file: string): number => Number(readFileSync(file, 'utf8').split('\n')[0])
