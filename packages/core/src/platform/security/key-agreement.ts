import type { AnySql } from '../database/database.ts'
import type { Secrets } from './secrets.ts'

/** Rows of the table `instance`. */
export const KEY_ROWS = {
  fingerprint: 'secret key fingerprint',
  pseudonymKeys: 'pseudonym keys',
  /** When the key in use was changed: Unix time in seconds. */
  changedAt: 'secret key changed at',
  /** The key with which everything is sealed since the last change. */
  resealed: 'secret key of all sealed values',
} as const

/**
 * Ensures that all processes of a database make new values with the same SECRET_KEY: the first process stores the fingerprint of its key,
 * and all others must know that key, as SECRET_KEY or as one of SECRET_KEY_PREVIOUS. With another key, a process could neither read DKIM keys
 * nor recognise return paths. While the key is rotated, this process follows the fingerprint. Returns whether the key is known.
 */
export async function agreeOnSecret(sql: AnySql, secrets: Secrets): Promise<boolean> {
  const agrees = await secretAgrees(sql, secrets)
  if (agrees !== undefined) return agrees
  await sql`
    insert into instance (name, value) values (${KEY_ROWS.fingerprint}, ${secrets.fingerprint}) on conflict do nothing`
  return agreeOnSecret(sql, secrets)
}

/** Like {@link agreeOnSecret}, but stores nothing: undefined if no process has used the database yet. */
export async function secretAgrees(sql: AnySql, secrets: Secrets): Promise<boolean | undefined> {
  const { fingerprint, pseudonymKeys } = await readKeyRows(sql)
  return fingerprint === undefined ? undefined : secrets.use(fingerprint, pseudonymKeys)
}

export async function readKeyRows(sql: AnySql): Promise<Partial<Record<keyof typeof KEY_ROWS, string>>> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, value from instance where name = any(${Object.values(KEY_ROWS)}::text[])`
  return keyRows(rows.map(({ name, value }) => [name, value]))
}

/** Those of {@link KEY_ROWS} among the names and values of rows of `instance`. */
export function keyRows(rows: readonly (readonly [string, string])[]): Partial<Record<keyof typeof KEY_ROWS, string>> {
  const values = new Map(rows)
  return Object.fromEntries(
    Object.entries(KEY_ROWS).flatMap(([key, name]) => (values.has(name) ? [[key, values.get(name)]] : [])),
  )
}
