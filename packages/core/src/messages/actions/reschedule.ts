import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { storedLifetime } from '../../delivery/outcomes/stored-lifetime.ts'
import type { Flow } from '../../delivery/queue/flows.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { NEVER } from '../../platform/never.ts'
import { LIMITS } from '../../submission/limits.ts'
import { messageIdText, parseMessageId } from '../../submission/message-id.ts'
import { parseScheduleTime } from '../../submission/schedule-time.ts'

export interface RescheduleOrder {
  /** Either form of the id. */
  readonly messageId: string
  readonly accountId?: number | undefined
  /** As schedule-time.ts reads it. Without a zone, it is a time of the account's zone. A time that has passed: now. */
  readonly schedule: string
}

export interface Rescheduled {
  /** 32 hex digits. */
  readonly id: string
  readonly scheduledAt: Date
  /** Deliveries that have this time now. */
  readonly rescheduled: number
  /** Deliveries that were due already, or have ended. */
  readonly others: number
}

interface Target {
  readonly accountId: number
  readonly scheduledAt: Date | null
  readonly acceptedAt: Date
  readonly recipients: number
  readonly zone: string
  readonly now: Date
}

/**
 * Gives the deliveries of a message that are scheduled and not yet due another time; undefined if there is no such message, or not in the account. A
 * delivery is either rescheduled or claimed, never both: both lock its row. Those of a paused batch, and those that the operator holds, go on waiting
 * and have the new time afterwards.
 *
 * Throws parameterInvalid (`schedule`), or messageDue if none is left.
 */
export async function rescheduleMessage(
  { sql, announce }: { readonly sql: Sql; readonly announce: (flow: Flow) => void },
  { messageId, accountId: owner, schedule }: RescheduleOrder,
  by: Actor,
): Promise<Rescheduled | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const result = (await sql.begin(async (transaction) => {
    const [message] = await transaction<Target[]>`
      select account_id as "accountId", scheduled_at as "scheduledAt", accepted_at as "acceptedAt", recipients,
             coalesce(a.time_zone, 'UTC') as zone, service_now() as now
        from messages m left join accounts a on a.id = m.account_id
       where m.id = ${id}::uuid ${owner === undefined ? transaction`` : transaction`and m.account_id = ${owner}::int`}`
    if (!message) return undefined
    const at = timeOf(schedule, message)
    const classes = await moveWaiting(transaction, id, at)
    if (classes.length === 0) throw new ServiceError('messageDue')
    const object = `message ${messageIdText(id)}`
    const { accountId, scheduledAt } = message
    await noteChange(transaction, {
      accountId,
      by,
      action: 'message.reschedule',
      object,
      before: { scheduledAt: scheduledAt?.toISOString() ?? null },
      after: { scheduledAt: at.toISOString(), rescheduled: classes.length },
    })
    const others = message.recipients - classes.length
    return {
      flow: { accountId, class: classes[0] as Flow['class'] },
      shown: { id: messageIdText(id), scheduledAt: at, rescheduled: classes.length, others },
    }
  })) as { flow: Flow; shown: Rescheduled } | undefined
  if (result) announce(result.flow)
  return result?.shown
}

/** Throws parameterInvalid. */
function timeOf(schedule: string, { acceptedAt, now, zone }: Target): Date {
  const read = parseScheduleTime(schedule.trim(), zone)
  if ('problem' in read) throw invalidParameter('schedule', read.problem)
  // From its acceptance on: what is stored of a message is deleted some time after that.
  const last = acceptedAt.getTime() + LIMITS.scheduleDays * 86_400_000
  if (read.at.getTime() > last)
    throw invalidParameter('schedule', `must be at most ${LIMITS.scheduleDays} days after the message was accepted`)
  return new Date(Math.max(read.at.getTime(), now.getTime()))
}

/** Returns the class of each delivery that was moved. In the order of the key, as jobs lock theirs, so that the two never deadlock. */
async function moveWaiting(sql: SqlTransaction, id: string, at: Date): Promise<Flow['class'][]> {
  const isHeld = sql`q.waiting_for is not distinct from 'hold'`
  const unlessPaused = (column: ReturnType<SqlTransaction>) =>
    sql`case when ${column} = ${NEVER}::timestamptz then ${column} else ${at}::timestamptz end`
  const own = sql`coalesce(q.personal, jsonb_build_object('envelope', q.recipient_no)) || jsonb_build_object('scheduledAt', ${at.toISOString()}::text)`
  const rows = await sql<Pick<Flow, 'class'>[]>`
    with waiting as materialized (
      select q.message_id, q.recipient_no from delivery_queue q
       where q.message_id = ${id}::uuid and q.state = 'scheduled' and q.worker_id is null
         and coalesce(q.held_next_at, q.next_at) > service_now()
       order by q.message_id, q.recipient_no for update of q
    ), whole as materialized (
      -- Whether all that is or was to be sent has the new time. Otherwise that is a time of its own for each of these deliveries, as statistics count
      -- from the time of the message.
      select not exists (select from delivery_queue o where o.message_id = ${id}::uuid
                            and o.recipient_no not in (select recipient_no from waiting))
             and not exists (select from finished_deliveries f where f.message_id = ${id}::uuid and f.state <> 'dropped') as alone
    ), message as (
      update messages set scheduled_at = ${at}::timestamptz
       where id = ${id}::uuid and (select alone from whole) and exists (select from waiting)
    )
    update delivery_queue q
       set next_at = case when ${isHeld} then ${at}::timestamptz + ${storedLifetime(sql)} else ${unlessPaused(sql`q.next_at`)} end,
           held_next_at = case when ${isHeld} then ${unlessPaused(sql`q.held_next_at`)} end,
           expires_at = ${at}::timestamptz + ${storedLifetime(sql)},
           personal = case when not (select alone from whole) then ${own}
                           when q.personal ? 'scheduledAt' then q.personal - 'scheduledAt' else q.personal end
      from waiting w join messages m on m.id = w.message_id
     where q.message_id = w.message_id and q.recipient_no = w.recipient_no
    returning q.class`
  return rows.map((row) => row.class)
}
