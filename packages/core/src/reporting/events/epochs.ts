import { type AnySql, onlyRow, type SqlTransaction } from '../../platform/database/database.ts'

/**
 * Begins a new epoch of event numbers: after a restore to an earlier moment, numbers that readers have already seen are given to other
 * events. Returns its number. Must be called before events are written.
 */
export async function beginEpoch(sql: SqlTransaction, restoredTo: Date | null): Promise<number> {
  const { number } = onlyRow(
    await sql<{ number: number }[]>`
      insert into event_epochs (number, restored_to)
      select coalesce(max(number), 1) + 1, ${restoredTo}::timestamptz from event_epochs
      returning number`,
  )
  await sql`
    insert into event_epoch_starts (account_id, epoch, last_number)
    select a.id, ${number}::int, p.last from accounts a
     cross join lateral (
       select first_number + count - 1 as last from event_pages
        where account_id = a.id order by first_number desc limit 1) p`
  return number
}

export async function currentEpoch(sql: AnySql): Promise<number> {
  return onlyRow(await sql<{ number: number }[]>`select coalesce(max(number), 1) as number from event_epochs`).number
}

/**
 * Returns the number after which a reader continues that has read up to `after` in the epoch `epoch`: an earlier one if a restore since then
 * has changed what comes after that.
 */
export async function continueFrom(
  sql: AnySql,
  { accountId, after, epoch }: { readonly accountId: number; readonly after: number; readonly epoch: number },
): Promise<number> {
  const { last } = onlyRow(
    await sql<{ last: number | null }[]>`
      select min(coalesce(s.last_number, 0))::float8 as last
        from event_epochs e
        left join event_epoch_starts s on s.epoch = e.number and s.account_id = ${accountId}
       where e.number > ${epoch}`,
  )
  return last === null ? after : Math.min(after, last)
}
