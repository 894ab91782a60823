import type { FinishedDelivery, FinishedSource, LeftOut } from '../../delivery/control/finished.ts'
import { keepPartitions, lockBodies } from '../../delivery/queue/deletion-locks.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { findFinished } from './find-finished.ts'
import { type JudgedDelivery, judgeDeliveries, selectMessages } from './judge.ts'
import { moveToQueue } from './move.ts'

/** Finished deliveries for the jobs of `queue requeue`, which follow the rules of `message requeue`. */
export function createFinishedSource(forgotten: Forgotten): FinishedSource {
  return {
    find: findFinished,
    async judge(sql, found) {
      const { wanted, leftOut } = await judgeAll(sql, forgotten, found)
      return { wanted: wanted.map(({ delivery }) => delivery), leftOut }
    },
    async requeue(sql, found) {
      if (!(await keepPartitions(sql))) return undefined
      // In ascending order, so that concurrent jobs and erasures cannot deadlock.
      const accountIds = [...new Set(found.map(({ accountId }) => accountId))].sort((a, b) => a - b)
      for (const accountId of accountIds) await lockBodies(sql, accountId)
      const { wanted } = await judgeAll(sql, forgotten, found)
      if (wanted.length > 0) await moveToQueue(sql, wanted)
      return wanted.map(({ delivery }) => delivery)
    },
  }
}

interface JudgedFound {
  readonly wanted: readonly (JudgedDelivery & { readonly delivery: FinishedDelivery })[]
  readonly leftOut: readonly LeftOut[]
}

async function judgeAll(sql: AnySql, forgotten: Forgotten, found: readonly FinishedDelivery[]): Promise<JudgedFound> {
  if (found.length === 0) return { wanted: [], leftOut: [] }
  const messages = await selectMessages(sql, [...new Set(found.map(({ messageId }) => messageId))])
  const chosen: ReturnType<AnySql> = sql`
    (select one.* from unnest(${found.map(({ messageId }) => messageId)}::uuid[], ${found.map(({ recipientNo }) => recipientNo)}::int[]) as w(id, no)
      cross join lateral (select * from deliveries where message_id = w.id and recipient_no = w.no offset 0) one)`
  const judged = await judgeDeliveries(sql, forgotten, messages, chosen)
  const keyOf = (messageId: string, recipientNo: number) => `${messageId} ${recipientNo}`
  const byKey = new Map(found.map((one) => [keyOf(one.messageId, one.recipientNo), one]))
  const wanted: JudgedFound['wanted'][number][] = []
  const leftOut: LeftOut[] = []
  for (const one of judged) {
    const why = one.message.problem ?? one.refusal?.why
    if (why) leftOut.push(why)
    else wanted.push({ ...one, delivery: byKey.get(keyOf(one.message.id, one.recipientNo)) as FinishedDelivery })
  }
  return { wanted, leftOut }
}
