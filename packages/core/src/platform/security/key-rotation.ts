import type { AnySql, Sql } from '../database/database.ts'
import { KEY_ROWS, readKeyRows, secretAgrees } from './key-agreement.ts'
import type { Secrets } from './secrets.ts'

/** A column with values that are sealed with SECRET_KEY, of a table with the primary key `id`. */
export interface SealedColumn {
  /** Plural, for operators: "DKIM keys". */
  readonly what: string
  readonly table: string
  readonly keyType: 'int' | 'uuid'
  readonly column: string
  /** An SQL expression for the context that the value was sealed with, of the table with the alias t. */
  context(sql: AnySql): ReturnType<AnySql>
}

export interface SealedCount {
  readonly what: string
  readonly sealed: number
  /** Sealed with another key than the one in use. */
  readonly former: number
  /** Sealed with a key that is not known, or damaged. */
  readonly unreadable: number
}

/** A program with a connection to the database that may not know the new SECRET_KEY. */
export interface UnawareProgram {
  readonly program: string
  /** Null for a connection by a socket of the database host. */
  readonly address: string | null
  /** Its ports there, at most three: by one of them its process is found, of several that run on a host. */
  readonly ports: readonly number[]
  readonly connections: number
}

export interface KeyState {
  /** Whether SECRET_KEY is the key in use, with which new values are made. */
  readonly inUse: boolean
  /** Whether all stored values are sealed with the key in use. */
  readonly resealed: boolean
  /** Number of keys in SECRET_KEY_PREVIOUS. */
  readonly previous: number
}

export interface RotationOptions {
  /** Called after each batch of rows. */
  readonly report?: (what: string, rows: number) => void
  /** Milliseconds; by default {@link SETTLE_MS}. */
  readonly settle?: number
}

export interface KeyRotation {
  state(): Promise<KeyState>
  /** Reads all sealed values. */
  count(): Promise<SealedCount[]>
  /** Programs that were not started with this SECRET_KEY and SECRET_KEY_PREVIOUS. At most 100. */
  unaware(): Promise<UnawareProgram[]>
  /**
   * Makes SECRET_KEY the key in use of all processes, and seals all stored values with it. Several calls at the same time, and calls that were
   * interrupted, do no harm. Throws {@link UnawareProgramsError} and changes nothing while a process does not know SECRET_KEY.
   */
  rotate(options?: RotationOptions): Promise<SealedCount[]>
}

export class UnawareProgramsError extends Error {
  readonly programs: readonly UnawareProgram[]

  constructor(programs: readonly UnawareProgram[]) {
    super('some processes do not know the new SECRET_KEY')
    this.programs = programs
  }
}

/**
 * Milliseconds after the change of the key in use until no process still stores a value sealed with the former key: each reads the key
 * every second, and a statement takes at most 15 s.
 */
export const SETTLE_MS = 20_000
const BATCH = 200

export function createKeyRotation(options: {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly columns: readonly SealedColumn[]
}): KeyRotation {
  const { sql, secrets, columns } = options

  async function state(): Promise<KeyState> {
    await secretAgrees(sql, secrets)
    const { fingerprint, changedAt, resealed } = await readKeyRows(sql)
    return {
      inUse: fingerprint === secrets.known[0],
      resealed: changedAt === undefined || resealed === fingerprint,
      previous: secrets.known.length - 1,
    }
  }

  /** Commands count, too, since some seal values; a lease does not: its process has other connections. */
  async function unaware(): Promise<UnawareProgram[]> {
    const rows = await sql<UnawareProgram[]>`
      select split_part(application_name, ' ', 2) as program, host(client_addr) as address, count(*)::int as connections,
             coalesce((array_agg(client_port order by backend_start) filter (where client_port > 0))[:3], '{}') as ports
        from pg_stat_activity
       where datname = current_database() and application_name like 'postrider %' and pid <> pg_backend_pid()
         and split_part(application_name, ' ', 2) <> 'lease' and split_part(application_name, ' ', 3) <> ${keyMark(secrets) ?? ''}
       group by 1, 2 order by 1, 2 limit 100`
    return [...rows]
  }

  async function change(): Promise<void> {
    const programs = await unaware()
    if (programs.length > 0) throw new UnawareProgramsError(programs)
    await sql.begin(async (transaction) => {
      const former = secrets.fingerprint
      const { count } = await transaction`
        update instance set value = ${secrets.known[0] as string}
         where name = ${KEY_ROWS.fingerprint} and value = ${former}`
      // Another call has changed it.
      if (count === 0) return
      const now = transaction`extract(epoch from clock_timestamp())::bigint::text`
      await transaction`
        insert into instance (name, value)
        values (${KEY_ROWS.pseudonymKeys}, ${secrets.sealPseudonymKeys()}), (${KEY_ROWS.changedAt}, ${now})
        on conflict (name) do update set value = excluded.value`
    })
    await secretAgrees(sql, secrets)
  }

  return {
    state,
    unaware,
    async count() {
      await secretAgrees(sql, secrets)
      return sums(await Promise.all(columns.map((column) => passThrough(sql, secrets, column))))
    },
    async rotate({ report, settle = SETTLE_MS } = {}) {
      if (!(await state()).inUse) await change()
      const totals = new Map<string, SealedCount>()
      for (;;) {
        const settled = await secondsSinceChange(sql).then((seconds) => seconds * 1000 >= settle)
        let resealed = 0
        for (const column of columns) {
          const found = await passThrough(sql, secrets, column, { reseal: true, report })
          resealed += found.former
          const before = totals.get(columnName(column))?.former ?? 0
          totals.set(columnName(column), { ...found, former: before + found.former })
        }
        if (settled && resealed === 0) break
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
      await sql`
        insert into instance (name, value) values (${KEY_ROWS.resealed}, ${secrets.fingerprint})
        on conflict (name) do update set value = excluded.value`
      return sums([...totals.values()])
    },
  }
}

/**
 * The part of a session's name by which {@link KeyRotation.unaware} sees that its process knows this SECRET_KEY and the key in use; undefined if it
 * knows one key only.
 */
export function keyMark(secrets: Secrets): string | undefined {
  return secrets.known.length > 1 ? `k${secrets.known[0]?.slice(0, 8)}` : undefined
}

interface PassOptions {
  readonly reseal?: boolean
  readonly report?: ((what: string, rows: number) => void) | undefined
}

/** Reads all values of a column in batches. A value that is changed meanwhile is left alone: it is sealed with the key in use. */
async function passThrough(
  sql: Sql,
  secrets: Secrets,
  sealed: SealedColumn,
  { reseal = false, report }: PassOptions = {},
): Promise<SealedCount> {
  const { what, table, column } = sealed
  const type = sealed.keyType === 'int' ? sql`int` : sql`uuid`
  let [rows, former, unreadable] = [0, 0, 0]
  let after: string | null = null
  for (;;) {
    const batch: { id: string; box: Buffer; context: string }[] = await sql`
      select t.id::text as id, t.${sql(column)} as box, ${sealed.context(sql)} as context
        from ${sql(table)} t
       where (${after}::text is null or t.id > (${after}::text)::${type}) and length(t.${sql(column)}) > 0
       order by t.id limit ${BATCH}`
    const changed = batch.flatMap(({ id, box, context }) => {
      if (secrets.isCurrent(box, context)) return []
      try {
        return [{ id, box, sealed: secrets.seal(secrets.open(box, context), context) }]
      } catch {
        unreadable++
        return []
      }
    })
    rows += batch.length
    former += changed.length
    if (reseal && changed.length > 0)
      await sql`
        update ${sql(table)} t set ${sql(column)} = decode(a.sealed, 'hex')
          from unnest(${changed.map(({ id }) => id)}::text[], ${changed.map(({ box }) => box.toString('hex'))}::text[],
                      ${changed.map((one) => one.sealed.toString('hex'))}::text[]) as a(id, box, sealed)
         where t.id = a.id::${type} and t.${sql(column)} = decode(a.box, 'hex')`
    report?.(what, rows)
    after = batch.at(-1)?.id ?? null
    if (batch.length < BATCH) return { what, sealed: rows, former, unreadable }
  }
}

/** Infinite if it was never changed. */
async function secondsSinceChange(sql: Sql): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select (extract(epoch from clock_timestamp()) - value::bigint)::float8 as seconds from instance
     where name = ${KEY_ROWS.changedAt}`
  return row?.seconds ?? Number.POSITIVE_INFINITY
}

function columnName({ table, column }: SealedColumn): string {
  return `${table}.${column}`
}

/** Adds up the columns of one kind of value. */
function sums(counts: readonly SealedCount[]): SealedCount[] {
  const byKind = new Map<string, SealedCount>()
  for (const one of counts) {
    const { sealed = 0, former = 0, unreadable = 0 } = byKind.get(one.what) ?? {}
    byKind.set(one.what, {
      what: one.what,
      sealed: sealed + one.sealed,
      former: former + one.former,
      unreadable: unreadable + one.unreadable,
    })
  }
  return [...byKind.values()]
}
