import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import t from 'tap'
import { makeTemplateDatabase } from '../helpers/database.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test(
  'Postgres falling three times under load loses nothing, work resumes by itself, and a standby is not ready',
  { timeout: 150_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'restart-'))
    const server = await startEmbeddedPostgres({ dataDir })
    t.teardown(() => server.stop())
    await makeTemplateDatabase(server.url)
    const sink = await startSink(t)
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, server.url)
    const ledger = new Ledger(service, await service.makeSender())
    const processes = [
      await startProcess(t, 'api', service.env),
      await startProcess(t, 'relay', service.env),
      await startProcess(t, 'delivery', service.env),
    ]

    const load = ledger.load(6)
    for (let fall = 0; fall < 3; fall++) {
      const before = ledger.acknowledged.size
      await until('some accepts', () => ledger.acknowledged.size > before + 40, 30_000)
      await fell(dataDir)
      await until('Postgres to be back', () => postmaster(dataDir), 30_000)
    }
    const before = ledger.acknowledged.size
    await until('new accepts after the last restart', () => ledger.acknowledged.size > before + 20, 20_000)
    await load.stop()

    await ledger.drain(40_000)
    const evaluated = await ledger.evaluate(sink)
    t.comment(`figures: 3 falls, ${figures(evaluated)}`)
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.strictSame(evaluated.unfinished, [], 'every delivery has a final state')

    // As after a failover: the old primary comes back as the standby of the new one.
    writeFileSync(join(dataDir, 'postgres', 'standby.signal'), '')
    await fell(dataDir)
    const ready = () => fetch(`http://127.0.0.1:${service.config.apiPort}/health/ready`)
    await until('a standby', async () => /is a standby/.test(await (await ready()).text()), 30_000)
    t.equal((await ready()).status, 503, 'a standby is not ready')
    await service.sql`select pg_promote()`
    await until('the primary', async () => (await ready()).status === 200, 30_000)
    for (const process of processes)
      t.equal(await process.stop(), 0, `${process.name} lived through it and stops cleanly`)
  },
)

/** The process of the server, once it takes connections. Its file is away while no server runs. */
function postmaster(dataDir: string): number | undefined {
  try {
    const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
    return lines[7]?.trim() === 'ready' ? Number(lines[0]) : undefined
  } catch {
    return undefined
  }
}

/** Ends the server by SIGQUIT, which is Postgres' immediate shutdown: no checkpoint, crash recovery at the next start. */
async function fell(dataDir: string): Promise<void> {
  const fallen = postmaster(dataDir)
  if (fallen === undefined) throw new Error('no server to fell')
  process.kill(fallen, 'SIGQUIT')
  await until('Postgres to fall', () => postmaster(dataDir) !== fallen)
}
