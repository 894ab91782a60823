import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BUCKET, startObjectStorage } from '../helpers/object-storage.ts'
import { until } from '../helpers/until.ts'
import { examined, foundBy } from './doctor.ts'
import { onDatabase } from './embedded-database.ts'
import { answered, postrider } from './postrider.ts'

const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? '/tmp', 'backup-objects-'))
const storage = await startObjectStorage(t)
const { BODY_STORE: _none, ...s3 } = storage.settings
const SECRET_KEY = 'a secret key of more than thirty-two characters'
const BACKUP_DIR = `s3://${BUCKET}/installation/backups`
const env = { ...s3, SECRET_KEY, BACKUP_DIR, DATA_DIR: join(folder, 'data') }
const prefix = 'installation/backups/'
const stored = (beginning: string) => [...storage.objects.keys()].filter((path) => path.startsWith(prefix + beginning))
/** Fails the requests for which `isConcerned` holds. */
const fails = (status: number, code: string, isConcerned: (method: string, path: string) => boolean = () => true) => {
  storage.react = ({ method, path }) => (isConcerned(method, path) ? { status, code } : undefined)
}
const works = () => (storage.react = () => undefined)
let between = ''

t.test('a base backup is stored in encrypted pieces, and its summary last', async (t) => {
  await postrider(env, 'migrate')
  const { name } = await answered<{ name: string }>(env, 'backup', BACKUP_DIR)
  const puts = storage.requests.filter((request) => request.startsWith('PUT') && !request.includes('/wal/'))
  t.equal(puts.at(-1), `PUT ${prefix}base/${name}.json`)
  t.ok(stored(`pieces/${name}/`).length > 2)
  const isReadable = (content: Buffer) =>
    content[0] !== 1 || ['PostgreSQL', 'firstSegment', 'format'].some((word) => content.includes(word))
  t.strictSame(
    [...storage.objects].filter(([, content]) => isReadable(content)).map(([path]) => path),
    [],
  )
})

t.test('while the storage is down the database runs and keeps its changes, and stores them afterwards', async (t) => {
  fails(503, 'SlowDown')
  await onDatabase(env, async (sql) => {
    await sql`insert into accounts (name) values ('before')`
    await sql`insert into delivery_queue (message_id, recipient_no, account_id, kind, recipient, recipient_key, recipient_domain, state, next_at, expires_at)
              values (gen_random_uuid(), 0, 1, 'to', 'ann@harbor.example', '\\x00', 'harbor.example', 'queued', now(), now() + interval '1 minute')`
    const [{ segment, now }] = await sql<[{ segment: string; now: Date }]>`
      select pg_walfile_name(pg_switch_wal()) as segment, clock_timestamp() as now`
    between = new Date(now.getTime() + 10).toISOString()
    await sql`select pg_sleep(0.1)`
    const failed = async () => {
      const [row] = await sql`select failed_count > 0 as "hasFailed" from pg_stat_archiver`
      return row?.hasFailed === true
    }
    await until('the archive to fail', failed, 30_000)
    t.notOk(stored('wal/').some((path) => path.includes(segment)))
    t.ok(readdirSync(join(env.DATA_DIR, 'postgres/pg_wal')).includes(segment), 'the server keeps it')
    works()
    await until('the segment to be stored', async () => stored('wal/').includes(`${prefix}wal/${segment}.gz`), 90_000)
    await sql`insert into accounts (name) values ('after')`
  })
  t.match(
    readFileSync(join(env.DATA_DIR, 'postgres.log'), 'utf8'),
    /cannot archive .*: object storage at .* answered 503/,
  )
  t.match(foundBy(await examined(env), 'base backup'), /^ok: the last one was complete at/)
})

t.test('the state at a moment is restored on another host with SECRET_KEY, and no other key', async (t) => {
  const { DATA_DIR: _lost, BACKUP_DIR: _old, ...rest } = env
  const there = { ...rest, DATA_DIR: join(folder, 'then') }
  const restore = (...more: string[]) => ['restore', BACKUP_DIR, '--into', there.DATA_DIR, ...more]
  const refused = async (settings: Record<string, string>) => (await postrider(settings, ...restore())).stderr
  const { SECRET_KEY: _key, ...keyless } = there
  t.match(await refused(keyless), 'SECRET_KEY must be set, because DIR is in object storage')
  const other = 'another secret key of more than thirty-two characters'
  t.match(await refused({ ...there, SECRET_KEY: other }), 'is encrypted with another SECRET_KEY, or damaged')
  const rotated = { ...there, SECRET_KEY: other, SECRET_KEY_PREVIOUS: SECRET_KEY }
  t.match(await answered(rotated, ...restore('--to-time', between)), { held: 1, epoch: 2 })
  const accounts = await answered<{ name: string }[]>(there, 'account', 'list')
  t.strictSame(
    accounts.map(({ name }) => name),
    ['before'],
  )
  const { stderr } = await postrider({ ...there, BACKUP_DIR }, 'account', 'list')
  t.match(stderr, 'has the backups of another database', 'the copy does not write to the backups of the original')
})

t.test('refused credentials and a storage that is gone are said, and what to do', async (t) => {
  const said = async (...command: string[]) => (await postrider(env, ...command)).stderr
  fails(403, 'AccessDenied', (method) => method === 'PUT')
  t.match(
    await said('backup', BACKUP_DIR),
    `grant s3:PutObject on the bucket ${BUCKET} to the owner of S3_ACCESS_KEY_ID`,
  )
  fails(403, 'AccessDenied')
  t.match(await said('account', 'list'), 'grant s3:GetObject on the bucket')
  t.match(foundBy(await examined(env), 'base backup'), /^bad: the backups cannot be read: .*s3:ListBucket/)
  works()
  t.match(
    (await postrider({ ...env, S3_ACCESS_KEY_ID: '' }, 'backup', BACKUP_DIR)).stderr,
    'S3_ACCESS_KEY_ID must be set',
  )
})

t.test('missing, cut, altered and exchanged objects are found by verify, and stop a restore', async (t) => {
  const [first = '', ...others] = stored('pieces/').toSorted()
  const list = others.at(-1) ?? ''
  const [segment = ''] = stored('wal/')
    .filter((path) => /\/[0-9A-F]{24}\.gz$/.test(path))
    .slice(-2)
  const original = new Map(storage.objects)
  const flipped = (content: Buffer) => {
    const copy = Buffer.from(content)
    copy[copy.length - 1] = (copy.at(-1) as number) ^ 1
    return copy
  }
  const content = (path: string) => original.get(path) as Buffer
  const problemAfter = async (path: string, changed: Buffer | undefined) => {
    if (changed) storage.objects.set(path, changed)
    else storage.objects.delete(path)
    const { code, stderr } = await postrider(env, 'backup', 'verify', BACKUP_DIR, '--json')
    storage.objects.set(path, content(path))
    t.equal(code, 1)
    return stderr
  }
  t.match(await problemAfter(first, undefined), /\.gz is missing: this base backup cannot be restored. Take a new one/)
  t.match(await problemAfter(first, content(first).subarray(0, -1)), /\.gz is damaged: this base backup cannot/)
  t.match(await problemAfter(first, flipped(content(first))), /\.gz is damaged: this base backup cannot/)
  t.match(await problemAfter(first, content(list)), /\.gz is damaged: this base backup cannot/)
  t.match(await problemAfter(list, undefined), /files\.gz is missing: this base backup cannot/)
  storage.objects.set(segment, flipped(content(segment)))
  const { code, stderr } = await postrider(env, 'restore', BACKUP_DIR, '--into', join(folder, 'damaged'))
  t.equal(code, 1, 'an earlier state is not restored instead')
  t.match(
    stderr,
    /cannot restore [0-9A-F]{24}: .*gz is damaged: repeat this when it can be read, or restore to a moment/,
  )
  t.notOk(readdirSync(folder).includes('damaged'), 'nothing is left')
  storage.objects.set(segment, content(segment))
})

t.test('a restore that fails at its very end leaves an empty folder as it was', async (t) => {
  const into = join(folder, 'empty')
  mkdirSync(into)
  let lists = 0
  // The first list is of the base backups, and the next one of all changes, when everything is restored.
  fails(403, 'AccessDenied', (method, path) => method === 'GET' && path === '' && ++lists > 1)
  t.match(await postrider(env, 'restore', BACKUP_DIR, '--into', into), { code: 1, stderr: 's3:ListBucket' })
  works()
  t.strictSame(readdirSync(into), [])
})

t.test('older backups and their changes are deleted, and what interrupted backups left', async (t) => {
  const [old = ''] = stored('base/')
  storage.objects.set(`${prefix}pieces/20200101T000000Z/00000001.gz`, Buffer.alloc(1))
  const { name, pruned } = await answered<{ name: string; pruned: { backups: number; segments: number } }>(
    env,
    'backup',
    BACKUP_DIR,
    '--keep',
    '1',
  )
  t.equal(pruned.backups, 1)
  t.ok(pruned.segments > 0)
  t.notOk(old.includes(name))
  t.strictSame(stored('base/'), [`${prefix}base/${name}.json`])
  t.ok(stored('pieces/').every((path) => path.startsWith(`${prefix}pieces/${name}/`)))
  const verified = await answered(env, 'backup', 'verify', BACKUP_DIR)
  t.match(verified, { counts: { accounts: 2, queued: 1 }, problems: [] })
})

t.test('a backup that only a former key can read keeps its changes, and fails no later one', async (t) => {
  const [former = ''] = stored('base/')
  const changes = stored('wal/')
  const now = { ...env, SECRET_KEY: 'a secret key that came after the rotation of the first' }
  await answered({ ...now, SECRET_KEY_PREVIOUS: SECRET_KEY }, 'backup', BACKUP_DIR)
  storage.objects.set(`${prefix}base/20200101T000000Z.json`, storage.objects.get(former) as Buffer)
  t.match(await answered(now, 'backup', BACKUP_DIR, '--keep', '3'), { pruned: { backups: 1, segments: 0 } })
  t.ok([former, ...changes].every((path) => storage.objects.has(path)))
})

t.teardown(() => rmSync(folder, { recursive: true, force: true }))
