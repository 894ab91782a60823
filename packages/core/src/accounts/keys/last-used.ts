import type { AnySql, Sql } from '../../platform/database/database.ts'
import type { Log } from '../../platform/process/log.ts'
import { recordKeyUse } from './store.ts'

/** Minimum interval between two writes of one key's last use by a process. */
const INTERVAL_MS = 60_000
/** Milliseconds for which uses are collected, so that many keys are written by one statement. */
const COLLECT_MS = 1000

export interface LastUsed {
  note(keyId: number): void
  close(): Promise<void>
}

export interface LastUsedOptions {
  readonly every?: number
  readonly record?: (sql: AnySql, ids: readonly number[]) => Promise<void>
}

/** Records roughly when keys were used, without delaying responses. Updates that a process could not write are lost. */
export function createLastUsed(
  sql: Sql,
  log: Log,
  { every = INTERVAL_MS, record = recordKeyUse }: LastUsedOptions = {},
): LastUsed {
  const noted = new Map<number, number>()
  let used = new Set<number>()
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    timer = undefined
    const ids = [...used]
    used = new Set()
    const old = performance.now() - every
    for (const [id, at] of noted) if (at <= old) noted.delete(id)
    if (ids.length === 0) return
    await record(sql, ids).catch((err: unknown) => log.debug({ err }, 'could not record last use of keys'))
  }

  return {
    note(keyId) {
      const now = performance.now()
      const before = noted.get(keyId)
      if (before !== undefined && now - before < every) return
      noted.set(keyId, now)
      used.add(keyId)
      timer ??= setTimeout(() => void write(), COLLECT_MS).unref()
    },
    async close() {
      clearTimeout(timer)
      await write()
    },
  }
}
