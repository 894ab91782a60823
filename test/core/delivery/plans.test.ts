import { DEADLINES } from '@postrider/core'
import t from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { makeService } from '../../helpers/service.ts'
import { processorSeconds } from '../../helpers/test-processes.ts'

t.test(
  'a backlog that comes right after the queue was vacuumed empty slows down one claim, not every one',
  async (t) => {
    // The first claim takes a second of the database's processor time, and on a busy machine longer than a statement of the mail path may.
    const { mail } = DEADLINES
    Object.assign(DEADLINES, { mail: DEADLINES.long })
    t.teardown(() => Object.assign(DEADLINES, { mail }))
    const { sql, core } = await makeService(t)
    const fill = (rows: number) =>
      sql.begin(async (patient) => {
        await patient`set local statement_timeout = 0`
        await patient`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at)
    select uuidv7(), number, 1, 'queued', 'a@d.example', 'a@d.example', 'd.example', 'to', now(), now() + interval '1 day'
      from generate_series(1, ${rows}::int) as number`
      })
    const lease = await core.deliveries.register({ host: 'plans.test', pid: 1 })
    const busy = async (): Promise<number> => {
      const sessions = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`
      return sessions.reduce((sum, session) => sum + (processorSeconds(session) ?? 0) * 1000, 0)
    }
    /** Milliseconds of the database's processor time, in which other processes have no part. */
    const claim = async (limit: number): Promise<number> => {
      const began = await busy()
      t.equal((await claimDue(core, { workerId: lease.workerId, limit })).length, limit)
      return (await busy()) - began
    }
    const counted = async (): Promise<number> =>
      (
        await sql<{ rows: number }[]>`select reltuples::float8 as rows from pg_class where relname = 'delivery_queue'`
      )[0]?.rows ?? 0
    // As autovacuum leaves it, and does not look again so soon.
    await sql`alter table delivery_queue set (autovacuum_enabled = false)`
    await fill(1)
    await sql`delete from delivery_queue`
    await sql`vacuum analyze delivery_queue`
    // So that each connection of the pool has its plan.
    await fill(40)
    for (let at = 0; at < 40; at++) await claim(1)
    await fill(600_000)
    t.equal(await counted(), 0)
    const slow = await claim(200)
    if (slow < 400) return t.comment(`${Math.round(slow)} ms: too fast a machine for this backlog`)
    t.ok((await counted()) > 500_000, 'the queue was counted')
    t.ok((await claim(200)) < slow / 3, 'and the next claim has a plan by key')
    await lease.release()
  },
)
