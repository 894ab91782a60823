import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  connectProblem,
  createCore,
  createLog,
  openDatabase,
  readConfig,
  requireFitDatabase,
  STARTUP_PARAMETERS,
} from '@postrider/core'
import t, { type Test } from 'tap'
import { asOrdinaryUser } from '../../packages/cli/src/embedded-postgres/ordinary-user.ts'
import { postrider } from '../cli/postrider.ts'
import { acceptMessage } from '../core/submission.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeService, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/** The program of Debian's package pgbouncer, of any version. */
const PGBOUNCER = process.env.PGBOUNCER ?? 'pgbouncer'
const VERSION = /^PgBouncer (\S+)/.exec(String(spawnSync(PGBOUNCER, ['--version']).stdout))?.[1]
const skip = VERSION === undefined && 'needs pgbouncer, or its path in PGBOUNCER'

/** The line of docs/postgres.md. */
const DOCUMENTED = /^ignore_startup_parameters = (.*)$/m.exec(readFileSync('docs/postgres.md', 'utf8'))?.[0]

/** The database of the service by way of PgBouncer with these lines. */
async function startPooler(t: Test, service: TestService, lines: readonly string[]): Promise<string> {
  const url = new URL(service.env.DATABASE_URL as string)
  const [port] = await freePorts(1)
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
${url.pathname.slice(1)} = host=127.0.0.1 port=${url.port} user=${url.username} password=${url.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${lines.join('\n')}
`,
  )
  chmodSync(folder, 0o755)
  const [program = PGBOUNCER, ...args] = [...asOrdinaryUser(), PGBOUNCER, file]
  const pooler = spawn(program, args, { stdio: 'ignore' })
  t.teardown(() => ended(pooler))
  await until('pgbouncer to listen', () => listens(port as number))
  url.port = String(port)
  return url.href
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
}

async function fitness(t: Test, url: string): Promise<unknown> {
  const sql = openDatabase({ url, name: 'test', connections: 2 })
  t.teardown(() => sql.end({ timeout: 1 }))
  return requireFitDatabase(sql, { toMigrate: true }).catch((error: unknown) => error)
}

t.test('PgBouncer as it is installed is named, with the line that docs/postgres.md has', { skip }, async (t) => {
  const url = await startPooler(t, await makeService(t), [])
  const line = `ignore_startup_parameters = ${STARTUP_PARAMETERS.join(', ')}`
  t.match(connectProblem(await fitness(t, url)), { problem: /unsupported startup parameter/, fix: line })
  t.equal(DOCUMENTED, line)
})

t.test('through PgBouncer in session mode with the documented line mail is accepted', { skip }, async (t) => {
  const service = await makeService(t)
  const url = await startPooler(t, service, ['pool_mode = session', DOCUMENTED ?? '', 'default_pool_size = 100'])
  t.equal(await fitness(t, url), undefined)
  const core = createCore({
    sql: openDatabase({ url, name: 'test', connections: 2 }),
    config: readConfig(service.env),
    log: createLog('test', 'silent'),
  })
  t.teardown(() => core.close())
  t.match(await core.readiness.check(), { ready: true })
  const { messageId } = await acceptMessage({ ...service, core }, await service.makeSender())
  t.ok(await core.messages.show(messageId))
})

for (const mode of ['transaction', 'statement']) {
  t.test(`PgBouncer in ${mode} mode is refused by start and doctor, with what to do`, { skip }, async (t) => {
    const service = await makeService(t)
    const url = await startPooler(t, service, [`pool_mode = ${mode}`, DOCUMENTED ?? ''])
    for (let time = 1; time <= 5; time++)
      t.match(await fitness(t, url), {
        message:
          /the pooler of DATABASE_URL gives a session to several clients.*: set DATABASE_URL to the server itself, or pool_mode = session/,
      })
    const doctor = await postrider({ ...service.env, DATABASE_URL: url }, 'doctor')
    t.match(doctor.stdout, /pooler .*gives a session to several clients in turn/s)
  })
}
