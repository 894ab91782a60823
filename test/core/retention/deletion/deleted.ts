import { OWN_ROWS, STAYING, STEPPED } from '../../../../packages/core/src/retention/deletion/own-rows.ts'
import type { TestService } from '../../../helpers/service.ts'

/** Closes an account. Returns the number of its plan. */
export async function closeAccount({ core }: TestService, accountId: number, graceDays?: number): Promise<number> {
  const { id } = await core.retention.deletions.plan(accountId, graceDays)
  const result = await core.retention.deletions.confirm(id)
  if ('why' in result) throw new Error(result.why)
  return id
}

/** Does all that is due. Returns how many parts that were. */
export async function removeAll({ core }: TestService): Promise<number> {
  for (let parts = 0; ; parts++) if (!(await core.retention.deletions.removeSome())) return parts
}

/** The tables with a column `account_id`, from the catalog. */
export async function accountTables({ sql }: Pick<TestService, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname = 'account_id' and not a.attisdropped order by 1`
  return rows.map(({ name }) => name)
}

/** Those that are known to the removal. */
export const KNOWN = new Set([...OWN_ROWS.map(({ table }) => table), ...STEPPED, ...Object.keys(STAYING)])

/** How many rows each table has of an account; tables without one are left out. */
export async function rowsOf(
  { sql }: Pick<TestService, 'sql'>,
  tables: readonly string[],
  accountId: number,
): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from ${sql(table)} where account_id = ${accountId}`
    if (row && row.count > 0) found[table] = row.count
  }
  return found
}

/** Of this week, which has partitions. */
const NOW = 'service_now()'

interface Column {
  readonly name: string
  readonly type: string
  readonly checked: string | null
}

/** Values that no rule below gives. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  suppressions: { scope: 'address', value: 'lena@harbor.example' },
  forget_requests: { sealed: '\\x00' },
}

/**
 * Inserts a row of an account into a table, with a value of its type in each column that needs one. References to other tables are not checked: those rows
 * go, too.
 */
export async function insertAnyRow({ sql }: Pick<TestService, 'sql'>, table: string, accountId: number): Promise<void> {
  const columns = await sql<Column[]>`
    select a.attname as name, format_type(a.atttypid, null) as type,
           (select pg_get_constraintdef(k.oid) from pg_constraint k
             where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum] limit 1) as checked
      from pg_attribute a
     where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
       and (a.attnotnull and not a.atthasdef or a.attname = any(${Object.keys(VALUES[table] ?? {})}::text[])) and a.attname <> 'account_id'
     order by a.attnum`
  const given = columns.map(({ name, type, checked }) => [name, VALUES[table]?.[name] ?? anyOf(type, checked), type])
  const names = ['account_id', ...given.map(([name]) => name)].join(', ')
  // One message, of this week: its id says which partition it is in.
  const values = [
    String(accountId),
    ...given.map(([, value, type]) =>
      type === 'uuid'
        ? "uuidv7_floor(date_trunc('week', service_now(), 'UTC'))"
        : value === NOW
          ? NOW
          : `'${value}'::${type}`,
    ),
  ].join(', ')
  await sql.begin(async (transaction) => {
    await transaction`set local session_replication_role = replica`
    await transaction.unsafe(`insert into ${table} (${names}) values (${values})`)
  })
}

function anyOf(type: string, checked: string | null): string {
  const listed = /'([^']+)'::text/.exec(checked ?? '')?.[1]
  if (listed !== undefined && type === 'text') return listed
  if (type.endsWith('[]')) return '{}'
  const simple: Readonly<Record<string, string>> = {
    json: '{}',
    jsonb: '{}',
    boolean: 'true',
    bytea: '\\x00',
    inet: '127.0.0.1',
    text: 'x',
  }
  if (type === 'date' || type.startsWith('timestamp')) return NOW
  return simple[type] ?? '1'
}
