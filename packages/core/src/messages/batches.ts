import { randomBytes } from 'node:crypto'
import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { finishDeliveries } from '../delivery/outcomes/finish-deliveries.ts'
import { storedLifetime } from '../delivery/outcomes/stored-lifetime.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { AnySql, Sql, SqlTransaction } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import { NEVER } from '../platform/never.ts'
import type { StoredMessage } from './stored-message.ts'

export const BATCH_STATES = ['pause', 'cancel'] as const
export type BatchState = (typeof BATCH_STATES)[number]

/** A paused or cancelled batch: scheduled messages that are paused, resumed and cancelled together. */
export interface HeldBatch {
  readonly id: string
  readonly state: BatchState
}

export interface BatchAct {
  readonly accountId: number
  readonly id: string
  readonly by: Actor
}

export interface Batches {
  /** Creates a batch and returns its id. */
  create(accountId: number): Promise<string>
  /** Returns whether the account has this batch and it still accepts messages. It does for ten days. */
  isOpen(accountId: number, id: string): Promise<boolean>
  /** Returns whether the account has this batch. */
  exists(accountId: number, id: string): Promise<boolean>
  /** Returns the paused and cancelled batches, or only the one with this id. */
  list(accountId: number, id?: string): Promise<HeldBatch[]>
  /**
   * Pauses or cancels the scheduled messages of a batch, and those added later. Messages that are already due or being sent are
   * not affected. Cancelling cannot be undone.
   *
   * Throws batchUnknown, batchesTooMany or, unless `again` is set, batchHasState.
   */
  hold(act: BatchAct, state: BatchState, options?: { readonly again?: boolean }): Promise<void>
  /** Resumes a batch: paused messages are sent when they are due, cancelled ones stay cancelled. Throws batchUnknown. */
  resume(act: BatchAct): Promise<void>
  /** Deletes expired batches that are not paused. Returns the number of deleted rows. */
  forgetOld(): Promise<number>
}

/** Maximum number of paused and cancelled batches per account. */
const MAX_HELD = 100
const OPEN_DAYS = 10
/** Days after which batches are deleted. By then even the messages scheduled furthest ahead have been sent. */
const RETENTION_DAYS = 60
/** Other ids, such as those with NUL, are rejected without a query. */
const ID = /^[\w-]{1,100}$/

export function createBatches(sql: Sql): Batches {
  /** Calls `fn` in a transaction that locks the batch, so that it never runs concurrently with the accepting of its messages. */
  function changing<T>(
    { accountId, id }: BatchAct,
    fn: (transaction: SqlTransaction, state: BatchState | null) => Promise<T>,
  ): Promise<T> {
    return sql.begin(async (transaction) => {
      if (!ID.test(id)) throw new ServiceError('batchUnknown')
      const [batch] = await transaction<{ state: BatchState | null }[]>`
        select state from batches where account_id = ${accountId} and id = ${id} for update`
      if (!batch) throw new ServiceError('batchUnknown')
      return fn(transaction, batch.state)
    }) as Promise<T>
  }

  async function setState(
    transaction: SqlTransaction,
    { accountId, id, by }: BatchAct,
    before: BatchState | null,
    state: BatchState | null,
  ) {
    await transaction`update batches set state = ${state} where account_id = ${accountId} and id = ${id}`
    await noteChange(transaction, {
      accountId,
      by,
      action: 'batch.change',
      object: `batch ${id}`,
      before: { state: before ?? 'send' },
      after: { state: state ?? 'send' },
    })
  }

  return {
    async create(accountId) {
      // Hexadecimal: one that began with a hyphen would be an option of the command line.
      const id = randomBytes(12).toString('hex')
      await sql`insert into batches (account_id, id) values (${accountId}, ${id})`
      return id
    },
    async isOpen(accountId, id) {
      if (!ID.test(id)) return false
      const rows = await sql`
        select 1 from batches where account_id = ${accountId} and id = ${id}
           and created_at > service_now() - make_interval(days => ${OPEN_DAYS}::int)`
      return rows.length > 0
    },
    async exists(accountId, id) {
      if (!ID.test(id)) return false
      return (await sql`select 1 from batches where account_id = ${accountId} and id = ${id}`).length > 0
    },
    list: async (accountId, id) =>
      id !== undefined && !ID.test(id)
        ? []
        : sql<HeldBatch[]>`
      select id, state from batches
       where account_id = ${accountId} and state is not null ${id === undefined ? sql`` : sql`and id = ${id}`}
       order by created_at, id limit ${MAX_HELD}`,
    hold: (act, state, { again = false } = {}) =>
      changing(act, async (transaction, before) => {
        if (before !== null && !again) throw new ServiceError('batchHasState')
        if (before === state) return
        if (before === null) await requireCapacity(transaction, act.accountId)
        await setState(transaction, act, before, state)
        await (state === 'pause' ? pause(transaction, act) : cancel(transaction, act))
      }),
    resume: (act) =>
      changing(act, async (transaction, before) => {
        if (before === null) throw new ServiceError('batchUnknown')
        await setState(transaction, act, before, null)
        await release(transaction, act)
      }),
    async forgetOld() {
      const rows = await sql`
        delete from batches b using (
          select account_id, id from batches
           where created_at < service_now() - make_interval(days => ${RETENTION_DAYS}::int) and state is distinct from 'pause'
           order by created_at limit 1000 for update skip locked) old
         where b.account_id = old.account_id and b.id = old.id`
      const messages = await sql`
        delete from batch_messages m
         where m.ctid = any(array(
           select bm.ctid from batch_messages bm
            where bm.message_id < uuidv7_floor(service_now() - make_interval(days => ${RETENTION_DAYS}::int))
              and not exists (select from batches b where b.account_id = bm.account_id and b.id = bm.batch_id)
            limit 1000))`
      return rows.count + messages.count
    },
  }
}

async function requireCapacity(sql: SqlTransaction, accountId: number): Promise<void> {
  const [held] = await sql<{ count: number }[]>`
    select count(*)::int as count from batches where account_id = ${accountId} and state is not null`
  if ((held?.count ?? 0) >= MAX_HELD) throw new ServiceError('batchesTooMany', { values: { limit: MAX_HELD } })
}

/**
 * Selects and locks the batch's scheduled deliveries. It waits for a transaction that has locked one, such as a job of the operator: one
 * that was passed over would be sent in spite of the batch. In the order of the key, as jobs lock theirs, so that the two never deadlock.
 */
function waiting(sql: AnySql, { accountId, id }: BatchAct) {
  return sql`
    select q.message_id, q.recipient_no
      from batch_messages b join delivery_queue q on q.message_id = b.message_id
     where b.account_id = ${accountId} and b.batch_id = ${id} and q.state = 'scheduled' and q.worker_id is null
     order by q.message_id, q.recipient_no for update of q`
}

/** Whether the operator holds it (delivery/control): until it is released it is due at the end of its lifetime. */
const isHeld = (sql: AnySql) => sql`q.waiting_for is not distinct from 'hold'`

async function pause(sql: SqlTransaction, act: BatchAct): Promise<void> {
  await sql`
    with held as materialized (${waiting(sql, act)})
    update delivery_queue q
       set next_at = case when ${isHeld(sql)} then q.next_at else ${NEVER}::timestamptz end,
           held_next_at = case when ${isHeld(sql)} then ${NEVER}::timestamptz end
      from held where q.message_id = held.message_id and q.recipient_no = held.recipient_no`
}

async function release(sql: SqlTransaction, act: BatchAct): Promise<void> {
  const dueAt = sql`greatest(coalesce((q.personal->>'scheduledAt')::timestamptz, m.scheduled_at), service_now())`
  const expiresAt = sql`greatest(q.expires_at, service_now() + ${storedLifetime(sql)})`
  await sql`
    with held as materialized (${waiting(sql, act)})
    update delivery_queue q
       set next_at = case when ${isHeld(sql)} then ${expiresAt} else ${dueAt} end,
           held_next_at = case when ${isHeld(sql)} then ${dueAt} end, expires_at = ${expiresAt}
      from held join messages m on m.id = held.message_id
     where q.message_id = held.message_id and q.recipient_no = held.recipient_no`
}

async function cancel(sql: SqlTransaction, act: BatchAct): Promise<void> {
  await sql`
    with held as materialized (${waiting(sql, act)}), deleted as (
      delete from delivery_queue q using held
       where q.message_id = held.message_id and q.recipient_no = held.recipient_no
      returning q.*
    ), finished as (
      ${finishDeliveries(sql, { from: sql`deleted`, state: 'dropped', reason: 'cancelled' })}
    )
    ${insertEvents(sql, { from: sql`deleted`, type: 'dropped', detail: { reason: 'cancelled' } })}`
}

/** Additional parts of the accept statement if a message of the group belongs to a batch. */
export function batchParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.filter(({ batchId }) => batchId !== undefined)
  if (own.length === 0)
    return {
      found: sql``,
      join: sql``,
      refusal: sql``,
      nextAt: sql`greatest(scheduled_at, service_now())`,
      added: sql``,
    }
  return {
    // Locked in the same order by every statement, so that two groups and a change never deadlock.
    found: sql`
      batch as materialized (
        select b.account_id, b.id, b.state from batches b
         where (b.account_id, b.id) in (select * from unnest(${own.map(({ accountId }) => accountId)}::int[],
                                                             ${own.map(({ batchId }) => batchId ?? '')}::text[]))
         order by b.account_id, b.id for share
      ), batched as materialized (
        select m.message_id, b.id, b.state
          from unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ accountId }) => accountId)}::int[],
                      ${own.map(({ batchId }) => batchId ?? '')}::text[]) as m(message_id, account_id, batch_id)
          join batch b on b.account_id = m.account_id and b.id = m.batch_id
      ),`,
    join: sql`left join batched on batched.message_id = d.message_id`,
    refusal: sql`, case when batched.state = 'cancel' then 'cancelled' end`,
    nextAt: sql`
      case when scheduled_at > service_now()
                and exists (select from batched b where b.message_id = recipient.message_id and b.state = 'pause')
           then ${NEVER}::timestamptz else greatest(scheduled_at, service_now()) end`,
    added: sql`, joined as (
      insert into batch_messages (account_id, batch_id, message_id)
      select m.account_id, batched.id, m.id from batched join message m on m.id = batched.message_id
       where m.id in (select id from stored)
    )`,
  }
}
