import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pendingMigrations } from '@postrider/core'
import t, { type Test } from 'tap'
import {
  BASELINE,
  LAST_BEFORE,
  versionOf,
} from '../../packages/core/src/platform/database/migrations/migration-files.ts'
import { makeEmptyDatabase } from '../helpers/database.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { type ProcessName, type ServiceProcess, type Sockets, startProcess } from '../helpers/processes.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Seconds under load after each turn, with one version alone. */
const STEADY_SECONDS = Number(process.env.STEADY_SECONDS ?? 5)

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()

/**
 * The newest release; before the first one, the version before the latest migration whose own migrations are still as they were: within a
 * change that is in work they are not final. The oldest is that before the baseline. PREVIOUS names another one.
 */
function previousVersion(): string {
  if (process.env.PREVIOUS) return git('rev-parse', process.env.PREVIOUS)
  const release = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0]
  if (release) return release
  const migrations = readdirSync(join(ROOT, 'sql'))
    .filter((name) => /^\d{4}_/.test(name) && versionOf(name) > BASELINE)
    .sort()
    .reverse()
  for (const name of migrations) {
    const before = git('log', '-1', '--diff-filter=A', '--format=%H^', '--', `sql/${name}`)
    if (git('diff', '--name-only', '--diff-filter=DMR', before, 'HEAD', '--', 'sql/[0-9]*.sql') === '') return before
  }
  return LAST_BEFORE
}

/** The programs of that version in a folder of their own, installed. */
function checkOut(version: string): string {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'previous-'))
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, folder])
  execFileSync('git', ['checkout', '--quiet', '--detach', git('rev-parse', version)], { cwd: folder })
  execFileSync('npm', ['run', '-s', 'setup'], { cwd: folder, stdio: 'ignore' })
  return folder
}

/** Two instances of each server and worker, on sockets that outlive them, as deploy/systemd has them. */
function host(t: Test, env: Record<string, string>, ports: { readonly api: number; readonly relay: number[] }) {
  const bind = (port: number): BoundSocket => {
    const socket = new BoundSocket({ host: '127.0.0.1', port })
    t.teardown(() => socket.close())
    return socket
  }
  const [plain = 0, secure = 0] = ports.relay
  const relay = { relay: bind(plain), 'relay-tls': bind(secure) }
  const api = { api: bind(ports.api) }
  const kinds: readonly (readonly [ProcessName, Sockets | undefined])[] = [
    ['api', api],
    ['api', api],
    ['relay', relay],
    ['relay', relay],
    ['delivery', undefined],
    ['delivery', undefined],
  ]
  const running: ServiceProcess[] = []
  return {
    /** Restarts one instance after the other with the programs of a folder. */
    async turnTo(root: string): Promise<void> {
      for (const [at, [name, sockets]] of kinds.entries()) {
        const old = running[at]
        if (old) t.equal(await old.stop(), 0, `${name} stops`)
        running[at] = await startProcess(t, name, env, sockets, { root })
      }
    },
  }
}

t.test(
  'the previous version is upgraded under load, rolled back and upgraded again: no call fails, no message is lost',
  { timeout: 600_000 },
  async (t) => {
    const version = previousVersion()
    const previous = checkOut(version)
    t.comment(`from ${version}`)
    const sink = await startSink(t)
    // The account is made by the old version, on the schema of the old version.
    const { migrate } = (await import(join(previous, 'packages/core/src/index.ts'))) as typeof import('@postrider/core')
    const { makeServiceOn } = (await import(
      join(previous, 'test/helpers/service.ts')
    )) as typeof import('../helpers/service.ts')
    const database = await makeEmptyDatabase()
    await migrate(database.sql)
    const service = await makeServiceOn(t, database, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const { apiPort, relayPort, relayTlsPort } = service.config
    const { turnTo } = host(t, { ...service.env }, { api: apiPort, relay: [relayPort, relayTlsPort] })
    const ledger = new Ledger(service, await service.makeSender())
    await turnTo(previous)

    const load = ledger.load(6)
    const steady = () => new Promise((resolve) => setTimeout(resolve, STEADY_SECONDS * 1000))
    for (const root of [ROOT, previous, ROOT]) {
      await turnTo(root)
      await steady()
    }
    await load.stop()
    t.strictSame(await pendingMigrations(service.sql), [], 'the schema is that of the new version')
    await until(
      'an empty queue',
      async () => (await service.sql`select 1 from delivery_queue limit 1`).length === 0,
      60_000,
    )
    const evaluated = await ledger.evaluate(sink)
    t.comment(`figures: ${figures(evaluated)}`)
    t.strictSame(
      ledger.answers.filter(({ code }) => code < 200 || code >= 300).map(({ door, code }) => `${door} ${code}`),
      [],
    )
    t.strictSame(evaluated.lost, [])
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [])
    t.strictSame(evaluated.unexpected, [])
    t.ok(evaluated.acknowledged > 1000)
  },
)
