import type { FinishedDelivery, FinishedSource, LeftOut } from '../../delivery/control/finished.ts'
import { keepPartitions, lockBodies } from '../../delivery/queue/deletion-locks.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { type EvaluatedDelivery, evaluateDeliveries, selectMessages } from './evaluate.ts'
import { findFinished } from './find-finished.ts'
import { moveToQueue } from './move.ts'

/** Finished deliveries for the jobs of `queue requeue`, which follow the rules of `message requeue`. */
export function createFinishedSource(forgotten: Forgotten): FinishedSource {
  return {
    find: findFinished,
    async evaluate(sql, found) {
      const { wanted, leftOut } = await evaluateAll(sql, forgotten, found)
      return { wanted: wanted.map(({ delivery }) => delivery), leftOut }
    },
    async requeue(sql, found) {
      if (!(await keepPartitions(sql))) return undefined
      // In ascending order, so that concurrent jobs and erasures cannot deadlock.
      const accountIds = [...new Set(found.map(({ accountId }) => accountId))].sort((a, b) => a - b)
      for (const accountId of accountIds) await lockBodies(sql, accountId)
      const { wanted } = await evaluateAll(sql, forgotten, found)
      if (wanted.length > 0) await moveToQueue(sql, wanted)
      return wanted.map(({ delivery }) => delivery)
    },
  }
}

interface EvaluatedFound {
  readonly wanted: readonly (EvaluatedDelivery & { readonly delivery: FinishedDelivery })[]
  readonly leftOut: readonly LeftOut[]
}

async function evaluateAll(
  sql: AnySql,
  forgotten: Forgotten,
  found: readonly FinishedDelivery[],
): Promise<EvaluatedFound> {
  if (found.length === 0) return { wanted: [], leftOut: [] }
  const messages = await selectMessages(sql, [...new Set(found.map(({ messageId }) => messageId))])
  const chosen: ReturnType<AnySql> = sql`
    (select one.* from unnest(${found.map(({ messageId }) => messageId)}::uuid[], ${found.map(({ recipientNo }) => recipientNo)}::int[]) as w(id, no)
      cross join lateral (select * from deliveries where message_id = w.id and recipient_no = w.no offset 0) one)`
  const evaluated = await evaluateDeliveries(sql, forgotten, messages, chosen)
  const keyOf = (messageId: string, recipientNo: number) => `${messageId} ${recipientNo}`
  const byKey = new Map(found.map((one) => [keyOf(one.messageId, one.recipientNo), one]))
  const wanted: EvaluatedFound['wanted'][number][] = []
  const leftOut: LeftOut[] = []
  for (const one of evaluated) {
    const why = one.message.problem ?? one.refusal?.why
    if (why) leftOut.push(why)
    else wanted.push({ ...one, delivery: byKey.get(keyOf(one.message.id, one.recipientNo)) as FinishedDelivery })
  }
  return { wanted, leftOut }
}
