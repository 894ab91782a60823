import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findBinaries } from '../../packages/cli/src/embedded-postgres/binaries.ts'
import { startProblem } from '../../packages/cli/src/embedded-postgres/start-problem.ts'
import { type Ran, shell } from './postrider.ts'

const skip = process.platform !== 'linux' && 'the causes are those of Linux'
const asRoot = process.getuid?.() === 0 ? false : 'it takes root to cause this'
// Not TEST_FOLDER, which other users may not enter, and which may be in /dev/shm.
const folder = mkdtempSync(join(tmpdir(), 'failed-start-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
chmodSync(folder, 0o755)
const namespaces = asRoot || (spawnSync('unshare', ['--mount', 'true']).status === 0 ? false : 'no mounts here')

const PATH = process.env.PATH as string

/** `postrider migrate` on a DATA_DIR, as `up` starts it; `before`: what runs it. */
const start = (dataDir: string, before = '', env = {}): Promise<Ran> =>
  shell(`${before} '${process.execPath}' packages/cli/src/postrider.ts migrate`, { DATA_DIR: dataDir, PATH, ...env })

/** It ends with this status and one sentence. */
async function fails(t: Test, ran: Ran | Promise<Ran>, status: number, sentence: RegExp): Promise<void> {
  const { code, stderr } = await ran
  t.equal(code, status)
  t.match(stderr, sentence)
  t.match(stderr, /^postrider: [^\n]+\n$/, 'one sentence')
}

let made: string | undefined
/** A DATA_DIR with a database in it. */
async function database(name: string): Promise<{ dataDir: string; cluster: string }> {
  if (made === undefined) {
    made = join(folder, 'made')
    const { code, stderr } = await start(made)
    if (code !== 0) throw new Error(stderr)
  }
  const dataDir = join(folder, name)
  spawnSync('cp', ['-a', made, dataDir])
  return { dataDir, cluster: join(dataDir, 'postgres') }
}

/** What a failed start left in a DATA_DIR. */
const left = (dataDir: string): string[] => readdirSync(dataDir).filter((name) => name.startsWith('postgres'))

t.test('a folder without a database is named, and no new one is made in its place', { skip }, async (t) => {
  const dataDir = join(folder, 'none')
  const cluster = join(dataDir, 'postgres')
  mkdirSync(cluster, { recursive: true })
  await fails(
    t,
    start(dataDir),
    78,
    /DATA_DIR has no whole database: .*\/none\/postgres is empty; mount its disk .*, or, if it was never used, delete/,
  )
  mkdirSync(join(cluster, 'lost+found'))
  await fails(t, start(dataDir), 78, /\/none\/postgres has no PG_VERSION; /)
  rmSync(cluster, { recursive: true })
  writeFileSync(cluster, '')
  await fails(t, start(dataDir), 78, /\/none\/postgres is a file; /)
  t.strictSame(left(dataDir), ['postgres'])
})

t.test('a database that lacks files, is of another version, or has lost its password', { skip }, async (t) => {
  const { dataDir, cluster } = await database('damaged')
  rmSync(join(dataDir, 'postgres-password'))
  await fails(t, start(dataDir), 78, /damaged\/postgres-password is missing: restore it from a backup/)
  writeFileSync(join(cluster, 'PG_VERSION'), '15\n')
  writeFileSync(join(dataDir, 'postgres-password'), 'a\n')
  await fails(
    t,
    start(dataDir),
    78,
    /has a database of Postgres 15 \(.*damaged\/postgres\), and the embedded one is 18: start it with .* pg_dump/,
  )
  writeFileSync(join(cluster, 'PG_VERSION'), '18\n')
  rmSync(join(cluster, 'global', 'pg_control'))
  await fails(t, start(dataDir), 78, /damaged\/postgres lacks files of a database; .*restore a backup/)
})

t.test('a postmaster.pid that is old, empty or damaged stops no start', { skip }, async (t) => {
  const { dataDir, cluster } = await database('old-pid')
  for (const text of [`${process.pid}\n${cluster}\n1\n5432\n\n127.0.0.1\n\nready\n`, '', 'garbage']) {
    writeFileSync(join(cluster, 'postmaster.pid'), text)
    t.match(await start(dataDir), { code: 0, stderr: '' }, JSON.stringify(text))
  }

  await t.test('not even if the pid is now that of another user’s Postgres', { skip: asRoot }, async (t) => {
    const other = join(folder, 'postgres')
    copyFileSync('/bin/sleep', other)
    chmodSync(other, 0o755)
    const child: ChildProcess = spawn(other, ['600'])
    t.teardown(() => child.kill())
    writeFileSync(join(cluster, 'postmaster.pid'), `${child.pid}\n${cluster}\n1\n5432\n\n127.0.0.1\n\nready\n`)
    spawnSync('chown', ['-R', '12345:12345', dataDir])
    t.match(await start(dataDir, 'setpriv --reuid=12345 --regid=12345 --clear-groups'), { code: 0, stderr: '' })
    t.equal(child.exitCode ?? child.signalCode, null, 'which goes on')
  })
})

t.test('a path that is too long for Postgres is told before it is used', { skip }, async (t) => {
  const dataDir = join(folder, ...Array.from({ length: 5 }, () => 'x'.repeat(200)))
  await fails(t, start(dataDir), 78, /DATA_DIR has too long a path: \d{4} octets, and Postgres takes 900/)
  t.strictSame(left(dataDir), [])
})

t.test('a full disk, and the next start on a larger one works', { skip: skip || namespaces }, async (t) => {
  const dataDir = join(folder, 'full')
  mkdirSync(dataDir)
  // initdb begins on it, and does not end.
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', dataDir])
  t.teardown(() => spawnSync('umount', ['--lazy', dataDir]))
  await fails(
    t,
    start(dataDir),
    1,
    /the disk of DATA_DIR \(.*\/full\) is full, or has no inodes left: a new database takes 50 MB/,
  )
  t.strictSame(left(dataDir), [], 'nothing half-made')
  spawnSync('mount', ['-o', 'remount,size=200m', dataDir])
  t.match(await start(dataDir), { code: 0, stderr: '' })
})

t.test('a limit of file sizes', { skip }, (t) =>
  fails(
    t,
    start(join(folder, 'sizes'), 'ulimit -f 4096;'),
    1,
    /the largest file that this user may write is too small: .*ulimit -f/,
  ),
)

t.test('users who may not', { skip: skip || asRoot }, async (t) => {
  const user = 'setpriv --reuid=12345 --regid=12345 --clear-groups'
  await t.test('a user without an entry in /etc/passwd', async (t) => {
    const dataDir = join(folder, 'no-entry')
    mkdirSync(dataDir)
    spawnSync('chown', ['12345', dataDir])
    await fails(t, start(dataDir, user), 1, /user 12345 has no entry in \/etc\/passwd, which initdb needs: /)
    t.strictSame(left(dataDir), [])
  })
  await t.test('root that may make no namespace and has its data in its own home', async (t) => {
    const [bin, home] = [join(folder, 'bin'), join(folder, 'home')]
    mkdirSync(bin)
    writeFileSync(join(bin, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    mkdirSync(home, { mode: 0o700 })
    const dataDir = join(home, 'data')
    const says =
      /DATA_DIR is in a folder of root .*user 65534 \(`nobody`\), as which root runs Postgres here, may not enter .*\/home \(mode 0700\); set it to another/
    await fails(t, start(dataDir, '', { PATH: `${bin}:${PATH}` }), 78, says)
    t.strictSame(left(dataDir), [])
    chmodSync(home, 0o755)
    t.match(await start(dataDir, '', { PATH: `${bin}:${PATH}` }), { code: 0, stderr: '' })
  })
  await t.test('a user whose data belongs to another one', async (t) => {
    const { dataDir, cluster } = await database('owner')
    const give = (uid: string, path: string) => spawnSync('chown', ['-R', uid, path])
    give('12345', dataDir)
    give('4711', cluster)
    await fails(
      t,
      start(dataDir, user),
      78,
      /DATA_DIR has a file that this user cannot use \(.*\/owner\/postgres: EACCES\): run Postrider as the user/,
    )
    await fails(
      t,
      start(dataDir),
      78,
      /\/owner\/postgres belongs to user 4711; run Postrider as that user, or run chown -R 0 /,
    )
    give('12345', cluster)
    give('4711', join(cluster, 'base'))
    await fails(t, start(dataDir, user), 78, /cannot use \(.*\/owner\/postgres\/base: EACCES\)/)
    give('12345', cluster)
    chmodSync(cluster, 0o755)
    await fails(
      t,
      start(dataDir, user),
      78,
      /DATA_DIR has a database that others can read: run chmod 700 .*\/owner\/postgres/,
    )
    chmodSync(cluster, 0o700)
    t.match(await start(dataDir, user), { code: 0, stderr: '' }, 'none of the failed starts broke it')
  })
})

t.test('a container that lacks something', { skip: skip || namespaces }, async (t) => {
  const inMounts = (dataDir: string, ...commands: string[]) =>
    start(dataDir, `exec unshare --mount sh -c '${commands.join(' && ')} && exec "$@"' sh`)
  const native = dirname(dirname(findBinaries().initdb))

  await t.test('shared memory, at the first start and at a later one', async (t) => {
    const says = /\/dev\/shm is missing, too small or not writable: give it 64 MB or more/
    const tiny = 'mount -t tmpfs -o size=64k tmpfs /dev/shm'
    await fails(t, inMounts(join(folder, 'shm'), tiny), 1, says)
    t.strictSame(left(join(folder, 'shm')), [])
    await fails(t, inMounts((await database('shm-later')).dataDir, tiny), 1, says)
  })
  await t.test('a disk for the database that can be written', async (t) => {
    const { dataDir, cluster } = await database('read-only')
    const bound = [`mount --bind ${cluster} ${cluster}`, `mount -o remount,ro,bind ${cluster}`]
    await fails(
      t,
      inMounts(dataDir, ...bound),
      78,
      /DATA_DIR has a file that this user cannot use \(.*\/read-only\/postgres.*: EROFS\)|read-only disk/,
    )
  })
  await t.test('a library, or programs that may be executed', async (t) => {
    const [lib, bin] = [join(folder, 'lib'), join(folder, 'programs')]
    cpSync(join(native, 'lib'), lib, { recursive: true, verbatimSymlinks: true })
    for (const name of readdirSync(lib)) if (name.startsWith('libicuuc')) rmSync(join(lib, name))
    const dataDir = join(folder, 'lacking')
    await fails(
      t,
      inMounts(dataDir, `mount --bind ${lib} ${native}/lib`),
      1,
      /its library libicuuc\.so\.\d+ is missing: install Postrider again/,
    )
    cpSync(join(native, 'bin'), bin, { recursive: true })
    const noexec = [`mount --bind ${bin} ${native}/bin`, `mount -o remount,bind,noexec ${native}/bin`]
    await fails(t, inMounts(dataDir, ...noexec), 1, /\/initdb may not be executed: .*noexec/)
    rmSync(join(bin, 'postgres'))
    await fails(
      t,
      inMounts(dataDir, noexec[0] as string),
      1,
      /its program .*\/postgres is missing: install Postrider again/,
    )
    t.strictSame(left(dataDir), [])
    t.match(await start(dataDir), { code: 0, stderr: '' })
  })
})

t.test('wordings of what cannot be caused here', { skip }, async (t) => {
  const binaries = findBinaries()
  const failed = {
    action: 'start it',
    cluster: folder,
    binaries,
    program: binaries.postgres,
    runner: [],
    logFile: '/log',
  }
  for (const [output, sentence] of [
    ["/lib/libc.so.6: version `GLIBC_2.34' not found (required by initdb)", /C library is older than GLIBC_2\.34/],
    ['initdb: error: invalid locale settings; check LANG and LC_* environment variables', /lacks the locale C\.UTF-8/],
    ['FATAL:  could not map anonymous shared memory: Cannot allocate memory', /not enough memory/],
    ['setpriv: setresuid failed: Operation not permitted', /root may not become another user here: .*--user/],
    ['PANIC:  could not read file "pg_wal/1": Input/output error', /reports an input\/output error/],
    ['LOG:  a\nFATAL:  something new', /^could not start it \(something new\); see \/log$/],
    ['', /^could not start it; see \/log$/],
  ] as const)
    t.match(startProblem({ ...failed, output }).message, sentence)
  t.ok(existsSync(folder))
})

t.test(
  'root, whose programs the ordinary user cannot reach, reads that, and not that a library is missing',
  { skip: skip || asRoot },
  (t) => {
    const home = join(folder, 'closed')
    mkdirSync(join(home, 'bin'), { recursive: true })
    chmodSync(home, 0o700)
    const program = join(home, 'bin/initdb')
    const output = `${program}: error while loading shared libraries: libpq.so.5: cannot open shared object file`
    const failed = {
      output,
      action: 'create it',
      cluster: folder,
      binaries: { initdb: program, postgres: program, env: {} },
      program,
    }
    t.match(
      startProblem({ ...failed, runner: ['setpriv'] }).message,
      /may not enter .*closed \(mode 0700\): install Postrider in a folder that everybody/,
    )
    t.match(startProblem({ ...failed, runner: [] }).message, 'its library libpq.so.5 is missing')
    t.end()
  },
)
