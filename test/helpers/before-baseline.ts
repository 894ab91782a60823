import type { Sql } from '@postrider/core'

/** Real names, at their positions: the first one, one that is the name of another file today, and the last one. */
const NAMES = { 1: '0001_clock.sql', 2: '0002_accounts.sql', 91: '0091_charge_without_keys.sql' }

/** Names the migrations of a database as one that has the first `count` of the 91 from before the baseline; with all of them, also the later ones. */
export async function nameMigrationsBefore(sql: Sql, count: number): Promise<void> {
  await sql`delete from schema_migrations where name < '0092' or ${count}::int < 91`
  await sql`
    insert into schema_migrations (name, digest)
    select coalesce(${sql.json(NAMES)}::jsonb ->> n::text, lpad(n::text, 4, '0') || '_of_before.sql'), '' from generate_series(1, ${count}::int) n`
}
