import { postmasterOf } from '../../packages/cli/src/embedded-postgres/postmaster.ts'
import { withDatabase } from '../database.ts'
import type { ProcessorTime, Roots } from '../harness/processor.ts'
import { BARE_TABLES } from '../load/bare-store.ts'

export const ROUNDS = 3
export const FROM = 'desk@ship.example'

/** What a part of the experiment found: the rounds of each figure by its name, in its unit, and what follows from their medians. */
export interface Floor {
  readonly figures: readonly { readonly unit: string; readonly rounds: Readonly<Record<string, readonly number[]>> }[]
  readonly ratios?: Readonly<Record<string, number>>
}

export interface Bare {
  readonly sql: Parameters<Parameters<typeof withDatabase>[1]>[0]
  readonly url: string
  /** The process of Postgres that all others of it belong to. */
  readonly postgres: Roots
}

/** A Postgres with the tables of bare-store.ts. */
export function withBareTables<T>(act: (bare: Bare) => Promise<T>): Promise<T> {
  return withDatabase(1, async (sql, url) => {
    await sql.unsafe(BARE_TABLES)
    const [row] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`
    const postmaster = postmasterOf(row?.folder ?? '')
    if (!postmaster) throw new Error('the process of the database is not known')
    return act({ sql, url, postgres: [postmaster.pid] })
  })
}

/** Notes the processor time of each part, under its own name after the contestant's. */
export function duringParts<T>(
  times: ProcessorTime,
  name: string,
  parts: Readonly<Record<string, Roots>>,
  messages: number | ((result: T) => number),
  act: () => Promise<T>,
): Promise<T> {
  return Object.entries(parts).reduce<() => Promise<T>>(
    (inner, [part, roots]) =>
      () =>
        times.during(`${name}, ${part}`, roots, messages, inner),
    act,
  )()
}
