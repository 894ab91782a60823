import type { Sql } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log.ts'
import { noteUse } from './store.ts'

/** A key's use is written at most this often by a process. */
const EVERY_MS = 60_000
/** Uses are collected this long, so that many keys are one statement. */
const COLLECT_MS = 1000

export interface LastUsed {
  note(keyId: number): void
  close(): Promise<void>
}

/** Notes when keys were used, roughly, and off the answer's path. What a process could not write is lost. */
export function lastUsedOf(sql: Sql, log: Log, every = EVERY_MS): LastUsed {
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
    await noteUse(sql, ids).catch((err: unknown) => log.debug({ err }, 'the last use of keys was not written'))
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
