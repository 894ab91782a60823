import { openDatabase } from '@postrider/core'
import t from 'tap'
import { type SentStatement, untilEnded } from '../../../../packages/core/src/platform/database/commits/lost-answers.ts'
import { makeDatabase } from '../../../helpers/database.ts'
import { until } from '../../../helpers/until.ts'

t.test(
  'a session is ended and gone before its outcome is read, also as a role that acts as the owner of the tables',
  async (t) => {
    const { url, sql, drop } = await makeDatabase()
    const name = `app_${process.pid}`
    await sql.unsafe(`create role ${name}_owner nologin; create role ${name} login password 'x' in role ${name}_owner`)
    await sql.unsafe(`alter role ${name} set role = '${name}_owner'`)
    const own = new URL(url)
    Object.assign(own, { username: name, password: 'x' })
    const [one, other] = [1, 2].map(() => openDatabase({ url: own.href, name: 'test', connections: 1 }))
    t.teardown(async () => {
      await Promise.all([one?.end({ timeout: 0 }), other?.end({ timeout: 0 })])
      await sql.unsafe(`drop role ${name}; drop role ${name}_owner`)
      await drop()
    })
    if (!one || !other) return
    t.match(await other`select current_user::text as name`, [{ name: `${name}_owner` }])
    const statement = one`select pg_sleep(60)`
    const ended = statement.then(
      () => 'answered',
      ({ code }) => code,
    )
    const pidOf = () => (statement as unknown as SentStatement).state?.pid
    const running = () => sql`select from pg_stat_activity where pid = ${pidOf() ?? 0} and state = 'active'`
    await until('the statement to run', async () => (await running()).length === 1)
    const pid = pidOf() ?? 0
    t.equal(await untilEnded(other, { pid, since: performance.now() }, 10_000), true)
    t.equal((await running()).length, 0, 'it is gone')
    t.match(await ended, /^(?:57P01|CONNECTION_CLOSED)$/)
  },
)

t.test('a session of another program is neither ended nor waited for', async (t) => {
  const { url, sql, drop } = await makeDatabase()
  const stranger = openDatabase({ url, name: 'stranger', connections: 1 })
  t.teardown(async () => {
    await stranger.end({ timeout: 0 })
    await drop()
  })
  const [session] = await stranger<{ pid: number }[]>`select pg_backend_pid() as pid`
  t.equal(await untilEnded(sql, { pid: session?.pid ?? 0, since: performance.now() }, 5000), true)
  t.equal((await stranger`select 1`).length, 1)
})
