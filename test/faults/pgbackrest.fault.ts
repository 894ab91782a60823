import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate, openDatabase } from '@postrider/core'
import t from 'tap'
import { postrider } from '../cli/postrider.ts'
import { Ledger } from '../helpers/ledger.ts'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeServiceOn } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSection } from '../runbooks/page.ts'
import { asPostgres, BINARIES, owned } from './database-cluster.ts'

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')
const PAGE = 'docs/backup.md'
/** Seconds of load, of which the first are before the moments that are restored. */
const LOAD_SECONDS = Number(process.env.LOAD_SECONDS ?? 150)
const LEAD_SECONDS = 75
/** Milliseconds of accepted mail that a lost disk may cost. */
const PROMISED_MS = 60_000
const missing = ['/usr/bin/pgbackrest', `${BINARIES}/postgres`].find((file) => !existsSync(file))

t.test(
  'with pgBackRest, what was acknowledged before a moment is restored, and its queue is held',
  { skip: missing ?? false, timeout: (LOAD_SECONDS + 600) * 1000 },
  async (t) => {
    const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'pgbackrest-'))
    chmodSync(folder, 0o755)
    if (process.env.TEST_FOLDER) chmodSync(process.env.TEST_FOLDER, 0o755)
    const [port = 0] = await freePorts(1)
    const repository = owned(join(folder, 'repository'))
    const data = owned(join(folder, 'data'))
    const config = join(folder, 'pgbackrest.conf')
    writeFileSync(
      config,
      read('deploy/pgbackrest/pgbackrest.conf')
        .replace('/mnt/backup/pgbackrest', repository)
        .replace('/var/lib/postgresql/15/main', data)
        .replace(
          '[postrider]',
          `lock-path=${owned(join(folder, 'lock'))}\nlog-level-file=off\n[postrider]\npg1-port=${port}\npg1-socket-path=${folder}`,
        ),
      { mode: 0o644 },
    )
    /** A command of the page, by the user of Postgres. */
    const act = (command: string, more: Record<string, string> = {}): string =>
      execFileSync(...asPostgres('sh', ['-c', command]), {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: `${BINARIES}:${process.env.PATH}`, LC_ALL: 'C', PGBACKREST_CONFIG: config, ...more },
      })
    const stop = (of: string) => {
      if (existsSync(join(of, 'postmaster.pid'))) act(`pg_ctl --pgdata=${of} --wait --mode=immediate stop`)
    }
    const page = openSection('pgBackRest', {}, PAGE)
    const settings = /^```ini\n(.*?)^```$/ms.exec(read(PAGE))?.[1] as string
    act(`initdb --pgdata=${data} --auth=trust --username=postgres --data-checksums`)
    chmodSync(folder, 0o777)
    appendFileSync(
      join(data, 'postgresql.conf'),
      `${settings}\nport = ${port}\nunix_socket_directories = '${folder}'\n`,
    )
    act(`pg_ctl --pgdata=${data} --wait --log=${join(data, 'log')} start`)
    t.teardown(() => stop(data))
    act(page.take('pgbackrest --stanza=postrider stanza-create'))
    act(page.take('pgbackrest --stanza=postrider check'))

    const server = `postgres://postgres@127.0.0.1:${port}`
    const admin = openDatabase({ url: `${server}/postgres`, name: 'test', connections: 1 })
    await admin.unsafe('create database postrider')
    await admin.end()
    const url = `${server}/postrider`
    const sql = openDatabase({ url, name: 'test', connections: 3 })
    await migrate(sql)
    // Some mail waits, so that there is something to hold.
    let taken = 0
    const sink = await startSink(t, { rcpt: () => (++taken % 5 === 0 ? '451 4.7.1 later' : undefined) })
    const service = await makeServiceOn(
      t,
      { url, sql, drop: () => sql.end({ timeout: 1 }) },
      { DELIVERY: `smtp://127.0.0.1:${sink.port}` },
    )
    const ledger = new Ledger(service, await service.makeSender())
    const start = () =>
      Promise.all((['api', 'relay', 'delivery'] as const).map((name) => startProcess(t, name, service.env)))
    const processes = await start()
    act(page.take('pgbackrest --stanza=postrider --type=full backup'))

    const load = ledger.load(4)
    const acknowledged: { readonly at: number; readonly count: number }[] = []
    const note = setInterval(() => acknowledged.push({ at: Date.now(), count: ledger.acknowledged.size }), 100)
    t.teardown(() => clearInterval(note))
    const began = Date.now()
    const wait = (until: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - Date.now())))
    await wait(began + 20_000)
    act(page.take('pgbackrest --stanza=postrider --type=incr backup'))
    const span = LOAD_SECONDS - LEAD_SECONDS
    const moments = [1, 2].map(() => began + (LEAD_SECONDS + Math.random() * span * 0.9) * 1000).sort()
    const [moment = 0, lostAt = 0] = moments
    await wait(lostAt)
    const copy = join(folder, 'copy')
    const copiedAt = Date.now()
    execFileSync('cp', ['-a', repository, copy])
    await wait(began + LOAD_SECONDS * 1000)
    await load.stop()
    // The last segment is archived, so that the first moment is covered in any case.
    const [{ segment }] = await sql<[{ segment: string }]>`select pg_walfile_name(pg_switch_wal()) as segment`
    await until(
      'the archive',
      async () => (await sql`select from pg_stat_archiver where last_archived_wal >= ${segment}`).length > 0,
      60_000,
    )
    t.match(act(page.take('pgbackrest --stanza=postrider info')), /full backup: [\s\S]*incr backup: /)
    for (const process of processes) t.equal(await process.stop(), 0)
    stop(data)

    const all = [...ledger.acknowledged]
    const dueAt = (time: number) => all.slice(0, acknowledged.filter(({ at }) => at <= time).at(-1)?.count ?? 0)
    const recipients = async () => {
      const rows = await sql<{ recipient: string }[]>`
        select recipient from deliveries union all select recipient from delivery_queue`
      return new Set(rows.map(({ recipient }) => recipient))
    }
    const recovered = () =>
      until(
        'the end of the recovery',
        () =>
          sql`select pg_is_in_recovery() as is`.then(
            ([row]) => row?.is === false,
            () => false,
          ),
        60_000,
      )
    const check = async (due: readonly string[], what: string) => {
      const found = await recipients()
      t.ok(due.length > 100, `${due.length} were acknowledged`)
      t.strictSame(
        due.filter((recipient) => !found.has(recipient)),
        [],
        `${what}: all ${due.length} are there`,
      )
      const [held] = await sql<[{ all: number; held: number }]>`
        select count(*)::int as all, (count(*) filter (where waiting_for = 'hold'))::int as held from delivery_queue`
      t.ok(held.all > 0 && held.held === held.all, `${what}: all ${held.all} that wait are held`)
      t.comment(`figures: ${what}: ${due.length} acknowledged and there, ${held.held} held`)
    }

    const restore = page.take('pgbackrest --stanza=postrider --type=time', {
      TIME: new Date(moment).toISOString().replace('T', ' ').replace('Z', '+00'),
      NEW_DATA: join(folder, 'then'),
    })
    owned(join(folder, 'then'))
    chmodSync(join(folder, 'then'), 0o700)
    act(restore)
    act(
      page
        .take('pg_ctl', { NEW_DATA: join(folder, 'then') })
        .replace('start', `--log=${join(folder, 'then', 'log')} start`),
    )
    t.teardown(() => stop(join(folder, 'then')))
    const restored = page.take('postrider restored')
    t.equal(restored, 'postrider restored')
    await recovered()
    t.match((await postrider(service.env, 'queue')).stderr, 'run "postrider restored", which holds it')
    t.match((await postrider(service.env, 'restored', '--json')).stdout, /"epoch":2/)
    await check(dueAt(moment - 1000), 'a moment')
    const [api] = await start()
    const health = await fetch(`http://127.0.0.1:${service.config.apiPort}/health/ready`)
    t.equal(health.status, 200)
    t.ok(api)
    stop(join(folder, 'then'))

    // The disk is lost: what the repository had then is restored to its end, which only the operator knows.
    const lost = owned(join(folder, 'lost'))
    chmodSync(lost, 0o700)
    const repositoryOfThen = { PGBACKREST_REPO1_PATH: copy }
    const toEnd = restore
      .replace(/ --type=time --target="[^"]+" --target-action=promote/, '')
      .replace(/--pg1-path=\S+/, `--pg1-path=${lost}`)
    act(toEnd, repositoryOfThen)
    act(`pg_ctl --pgdata=${lost} --wait --log=${join(lost, 'log')} start`, repositoryOfThen)
    t.teardown(() => stop(lost))
    await recovered()
    t.match((await postrider(service.env, 'restored')).stderr, 'name the moment of its state with --to')
    const to = new Date(copiedAt - PROMISED_MS).toISOString()
    t.equal((await postrider(service.env, 'restored', '--to', to)).code, 0)
    await check(dueAt(copiedAt - PROMISED_MS), 'a lost disk')
    page.done(t)
  },
)
