import type { AnySql } from '../../platform/database/database.ts'

/** A permission for one connection to a destination. */
export interface Slot {
  readonly place: string
  /** From 1; two workers never have the same number of a destination at once. */
  readonly no: number
}

export interface SlotRequest {
  readonly place: string
  /** How many connections all workers together may have to the destination. */
  readonly limit: number
  readonly count: number
}

/**
 * Seconds after the table was emptied by a crash of the database in which no slot is given. Workers look every second, and those that
 * have connections insert their slots again.
 */
const RECOVERY_SECONDS = 5

/**
 * Takes up to `count` slots of each destination, never more than its limit in all. Returns those that this worker got, which may be fewer: none
 * while the table is being restored after a crash of the database, and none for a worker that was presumed dead.
 *
 * Each takes the lowest free numbers, so two workers that see the same free slots want the same rows, and one of them gets nothing.
 *
 * The lock of the worker's row is a write, whose commit need not wait for the disk: the table is unlogged.
 */
export async function takeSlots(sql: AnySql, workerId: number, requests: readonly SlotRequest[]): Promise<Slot[]> {
  if (requests.length === 0) return []
  return sql<Slot[]>`
    with worker as materialized (
      select id, set_config('synchronous_commit', 'off', true) from workers where id = ${workerId} for key share),
    request as materialized (
      select * from unnest(${requests.map(({ place }) => place)}::text[], ${requests.map(({ limit }) => limit)}::int[],
                           ${requests.map(({ count }) => count)}::int[]) as r(place, most, wanted)
       -- A clock that was set back must not stop all deliveries.
       where exists (select from connection_slots_since
                      where since not between now() - ${RECOVERY_SECONDS} * interval '1 second'
                                          and now() + ${RECOVERY_SECONDS} * interval '1 second')
    ), free as materialized (
      select request.place, found.no, worker.id from worker, request cross join lateral (
        select no from generate_series(1, request.most) as no
         where not exists (select from connection_slots s where s.place = request.place and s.no = no.no)
         order by no
         -- After the limit was lowered, slots with higher numbers are in use.
         limit greatest(0, least(request.wanted, request.most - (select count(*) from connection_slots s where s.place = request.place)))
      ) found
       -- All workers insert in the same order, so they wait for each other without a deadlock.
       order by request.place, found.no
    )
    insert into connection_slots (place, no, worker_id) select place, no, id from free
    on conflict do nothing
    returning place, no`
}

export async function freeSlots(sql: AnySql, workerId: number, slots: readonly Slot[]): Promise<void> {
  if (slots.length === 0) return
  await sql`
    delete from connection_slots s
     using unnest(${slots.map(({ place }) => place)}::text[], ${slots.map(({ no }) => no)}::int[]) as r(place, no)
     where s.place = r.place and s.no = r.no and s.worker_id = ${workerId}`
}

/** Returns since when the table of slots has been filled without an interruption, as a text that changes when a crash empties it. */
export async function slotsSince(sql: AnySql): Promise<string> {
  const read = () => sql<{ since: string }[]>`select since::text from connection_slots_since`
  const [row] = await read()
  if (row) return row.since
  await sql`insert into connection_slots_since (since) values (now()) on conflict do nothing`
  return (await read())[0]?.since ?? ''
}

/** Inserts the slots that this worker has, after a crash of the database has emptied the table. */
export async function restoreSlots(sql: AnySql, workerId: number, slots: readonly Slot[]): Promise<void> {
  if (slots.length === 0) return
  await sql`
    insert into connection_slots (place, no, worker_id)
    select r.place, r.no, worker.id
      from unnest(${slots.map(({ place }) => place)}::text[], ${slots.map(({ no }) => no)}::int[]) as r(place, no),
           (select id from workers where id = ${workerId} for key share) worker
     order by r.place, r.no
    on conflict do nothing`
}

/** Frees all slots of this worker but the given ones: the response to a statement was lost. */
export async function keepSlots(sql: AnySql, workerId: number, slots: readonly Slot[]): Promise<void> {
  await sql`
    delete from connection_slots s
     where s.worker_id = ${workerId} and not exists (
       select from unnest(${slots.map(({ place }) => place)}::text[], ${slots.map(({ no }) => no)}::int[]) as r(place, no)
        where r.place = s.place and r.no = s.no)`
}

/** Frees the slots of workers that stopped without freeing theirs. Those of dead workers are freed by the takeover. */
export async function freeSlotsOfOthers(sql: AnySql): Promise<void> {
  await sql`delete from connection_slots s where not exists (select from workers w where w.id = s.worker_id)`
}
