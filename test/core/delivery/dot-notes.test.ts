import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import file from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { makeTemplateDatabase } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

file.test(
  'the note of a final dot outlives a database that falls with the worker, the moment it was answered',
  { timeout: 90_000 },
  async (t) => {
    const dataDir = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'dots-'))
    // What nobody waits for is not written by the way.
    const server = await startEmbeddedPostgres({ dataDir, settings: ['wal_writer_delay=10s'] })
    // After the test's own, which drops the database.
    file.teardown(() => server.stop())
    await makeTemplateDatabase(server.url)
    const service = await makeService(t, {}, server.url)
    const { core, sql } = service
    const sender = await service.makeSender()
    const envelopes = [envelopeTo('lena@harbor.example')]
    await acceptMessage(service, sender, { envelopes })
    const lease = await core.deliveries.register({ host: 'worker.example', pid: 1 })
    const { workerId } = lease
    const [claimed] = await claimDue(core, { workerId, limit: 1 })
    if (!claimed) throw new Error('nothing was claimed')
    const postmaster = postmasterOf(dataDir)
    if (!postmaster) throw new Error('there is no server')
    t.strictSame(
      await core.deliveries.recordEndOfData([{ ...claimed, workerId, host: 'mx1.harbor.example', domainId: 1 }]),
      [true],
    )
    // Postgres' immediate shutdown: what was not written to the disk by now is gone.
    process.kill(postmaster, 'SIGQUIT')
    // The old one may answer some questions yet.
    await until('another server', () => ![undefined, postmaster].includes(postmasterOf(dataDir)), 40_000)
    const [row] = await until(
      'the database',
      () => sql<{ host: string | null }[]>`select dot_host as host from delivery_queue`.catch(() => undefined),
      40_000,
    )
    t.equal(row?.host, 'mx1.harbor.example')
    await until('a connection that lasts', () =>
      lease.release().then(
        () => true,
        () => false,
      ),
    )
  },
)

/** The process id of the server; undefined while there is none. */
function postmasterOf(dataDir: string): number | undefined {
  const path = join(dataDir, 'postgres', 'postmaster.pid')
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) || undefined : undefined
}
