import { type AnySql, onlyRow } from '../database.ts'

/**
 * Settings of which one names the moment that a server was restored to. pgBackRest, WAL-G and people set them for the recovery, and they
 * stay afterwards. A restore to the end of the archive sets none, and so looks like the promotion of a standby.
 */
const TARGETS = [
  'recovery_target',
  'recovery_target_lsn',
  'recovery_target_name',
  'recovery_target_time',
  'recovery_target_xid',
] as const
/** The row of `instance` with the target for which the queue was held; a migration writes the first one. */
const MARKED = 'recovery target'

/** "recovery_target_time = 2026-11-24 08:00:00+00"; empty if the server was not restored to a moment. */
export function targetOf(sql: AnySql): ReturnType<AnySql> {
  return sql`array_to_string(array(select name || ' = ' || current_setting(name)
                                     from unnest(${[...TARGETS]}::text[]) name where current_setting(name) <> ''), ', ')`
}

/** Condition of a statement that must do nothing on a server that was restored to a moment, until the queue was held. */
export function isUsable(sql: AnySql): ReturnType<AnySql> {
  return sql`(select of.target = '' or exists (select from instance where name = ${MARKED} and value = of.target)
                from (select ${targetOf(sql)} as target) of)`
}

/** Whether the queue was held after the server had been restored to this target. */
export async function isMarked(sql: AnySql, target: string): Promise<boolean> {
  if (target === '') return true
  return onlyRow(await sql<{ is: boolean }[]>`select ${isMarkedFor(sql, target)} as is`).is
}

/** The same as an expression of a statement. */
export function isMarkedFor(sql: AnySql, target: string): ReturnType<AnySql> {
  return sql`(${target}::text = '' or exists (select from instance where name = ${MARKED} and value = ${target}::text))`
}

export async function markTarget(sql: AnySql): Promise<void> {
  await sql`
    insert into instance (name, value) select ${MARKED}, ${targetOf(sql)}
    on conflict (name) do update set value = excluded.value`
}

export interface RestoreState {
  /** Empty if the server was not restored to a moment. */
  readonly target: string
  readonly marked: boolean
  /** The time of the last change that was restored; null if the server does not know it. */
  readonly restoredTo: Date | null
}

/** Postgres knows the time of the last change until it is restarted, and the named one as long as the setting stays. */
export async function readRestore(sql: AnySql): Promise<RestoreState> {
  const row = onlyRow(
    await sql<{ target: string; restoredTo: Date | null }[]>`
      select ${targetOf(sql)} as target,
             coalesce(pg_last_xact_replay_timestamp(), nullif(current_setting('recovery_target_time'), '')::timestamptz) as "restoredTo"`,
  )
  return { ...row, marked: await isMarked(sql, row.target) }
}
