import type { Test } from 'tap'
import { makeWholeDatabase, moveClock } from '../../helpers/database.ts'
import { makeServiceOn, type Sender, type TestService } from '../../helpers/service.ts'

/** The tables of a week of this moment's, by what they are of. */
export async function tables({ sql }: TestService): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
     where c.relkind = 'r' and c.relname ~ to_char(now() at time zone 'UTC', '"_"IYYY"w"IW"$"') order by 1`
  return rows.map(({ name }) => name.replace(/_\d{4}w\d\d$/, ''))
}

/** All that wait are delivered, as a worker would note it. */
export async function finish({ sql }: TestService): Promise<void> {
  await sql`
    with gone as (delete from delivery_queue returning *), done as (
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, personal, attempt, finished_at)
      select message_id, recipient_no, account_id, 'delivered', recipient, recipient_key, recipient_domain, kind, personal, 1, service_now()
        from gone)
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), account_id, 'sent', message_id, recipient_no, '{"reply": "250 ok"}' from gone`
}

/** Drops what is due until nothing more is; each round a minute later. */
export async function dropAt(service: TestService, days: number): Promise<string[]> {
  const dropped: string[] = []
  for (let minute = 0; ; minute += 2) {
    await moveClock(service.sql, `${days} days ${minute} minutes`)
    const round = await service.core.retention.dropPartitions()
    if (round.length === 0) return dropped
    dropped.push(...round)
  }
}

export async function make(
  t: Test,
  settings: Record<string, string> = {},
): Promise<{ service: TestService; sender: Sender }> {
  const service = await makeServiceOn(t, await makeWholeDatabase(), settings)
  return { service, sender: await service.makeSender() }
}
