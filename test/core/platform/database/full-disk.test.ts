import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@postrider/core'
import t, { type Test } from 'tap'
import { makeService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { refused } from '../../refused.ts'
import { acceptMessage } from '../../submission.ts'

/** Megabytes of the disk; an empty database of ours takes some twenty. */
const SIZE = 64

/** A small disk of its own, in memory; undefined where this user may not make one. */
function makeDisk(t: Test, owner: { uid: number; gid: number }): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  t.teardown(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  return folder
}

t.test('a probe of the disk writes two megabytes', async (t) => {
  const { sql, core } = await makeService(t)
  await core.readiness.check()
  // Sessions report what they wrote when they are idle, at most once per second.
  const written = await until('the report', async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<{ octets: number }[]>`
      select temp_bytes::int as octets from pg_stat_database where datname = current_database()`
    return row?.octets || undefined
  })
  t.ok(written >= 2_000_000, `${written} octets`)
})

t.test(
  'a full disk makes a core not ready, with the reason, and room on it makes it ready again within 10 s',
  async (t) => {
    const admin = openDatabase({ url: process.env.TEST_DATABASE_URL as string, name: 'test', connections: 1 })
    t.teardown(() => admin.end({ timeout: 1 }))
    const [{ folder } = { folder: '' }] = await admin<
      { folder: string }[]
    >`select current_setting('data_directory') as folder`
    const disk = makeDisk(t, statSync(folder))
    if (disk === undefined) return void t.comment('not tried: this user may not mount a disk')
    const service = await makeService(t)
    const sender = await service.makeSender()
    const name = new URL(service.env.DATABASE_URL as string).pathname.slice(1)
    const move = async (tablespace: string) => {
      await admin.unsafe(`alter database ${name} allow_connections false`)
      await until('an empty database', async () => {
        await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
        return (await admin`select 1 from pg_stat_activity where datname = ${name}`).length === 0
      })
      await admin.unsafe(`alter database ${name} set tablespace ${tablespace}`)
      await admin.unsafe(`alter database ${name} allow_connections true`)
    }
    await admin.unsafe(`create tablespace ${name}_disk location '${disk}'`)
    await move(`${name}_disk`)
    t.teardown(async () => {
      await move('pg_default')
      await admin.unsafe(`drop tablespace ${name}_disk`)
    })
    const { readiness } = service.core
    await until('ready', () => readiness.current().ready)
    await acceptMessage(service, sender)

    const filling = join(disk, 'filling')
    const fill = () => {
      const { bavail, bsize } = statfsSync(disk)
      try {
        appendFileSync(filling, Buffer.alloc(Number(bavail) * Number(bsize)))
      } catch (error) {
        // The database took some of it first.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    fill()
    const filledAt = performance.now()
    // What the tables have left takes some more; then there is no room for anything.
    const answers = new Set<string | undefined>()
    await until(
      'not ready',
      async () => {
        answers.add(await refused(acceptMessage(service, sender)))
        return !readiness.current().ready
      },
      20_000,
    )
    const turned = performance.now() - filledAt
    t.match(readiness.current().reasons, [/disk of the database is full/])
    t.equal(await refused(acceptMessage(service, sender)), 'notReady')
    // Vacuum, or a statement that failed, may have given room back.
    for (let round = 0; round < 25; round++) {
      fill()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    t.equal(readiness.current().ready, false, 'it stays so')

    truncateSync(filling, 0)
    const freedAt = performance.now()
    await until('ready again', () => readiness.current().ready, 10_000)
    await acceptMessage(service, sender)
    t.comment(
      `figures: full disk: not ready after ${Math.round(turned)} ms, ready again after ${Math.round(performance.now() - freedAt)} ms; answers ${[...answers].join()}`,
    )
  },
)
