import { randomBytes } from 'node:crypto'
import { openDatabase, type Sql } from '@postrider/core'
import type { Test } from 'tap'

export interface EmptyDatabase {
  readonly url: string
  /** Another pool on it. */
  open(connections?: number): Sql
}

/** A database in which nothing was made yet, not even the schema. */
export async function makeEmptyDatabase(t: Test): Promise<EmptyDatabase> {
  const server = process.env.TEST_DATABASE_URL as string
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = openDatabase({ url: server, name: 'test', connections: 1 })
  await admin.unsafe(`create database ${name} template template0 strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const pools: Sql[] = []
  t.teardown(async () => {
    for (const pool of pools) await pool.end({ timeout: 1 })
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.end()
  })
  return {
    url: url.href,
    open(connections = 2) {
      const pool = openDatabase({ url: url.href, name: 'test', connections })
      pools.push(pool)
      return pool
    },
  }
}
