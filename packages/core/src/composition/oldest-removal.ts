import { onlyRow, type Sql } from '../platform/database/database.ts'

/** Returns for how many seconds the oldest object has been waiting to be removed; 0 if there is none. */
export async function oldestRemoval(sql: Sql): Promise<number> {
  const { seconds } = onlyRow(
    await sql<{ seconds: number }[]>`
      select coalesce(greatest(extract(epoch from service_now() - noted_at), 0), 0)::float8 as seconds
        from (select min(noted_at) as noted_at from object_removals) oldest`,
  )
  return seconds
}
