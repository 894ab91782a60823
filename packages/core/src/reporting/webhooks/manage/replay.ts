import type { SqlTransaction } from '../../../platform/database/database.ts'
import { ServiceError } from '../../../platform/errors.ts'
import { lastNumber, readEvents } from '../../events/read.ts'
import type { WebhooksDependencies } from '../dependencies.ts'
import { movePosition } from '../store.ts'
import type { WebhookAct } from '../webhook.ts'
import { changeWebhook } from './require-webhook.ts'

const REPLAY_DAYS = 30

export async function replay(dependencies: WebhooksDependencies, act: WebhookAct, from: number): Promise<void> {
  await changeWebhook(dependencies, act, 'replay', async (transaction, { accountId, position }) => {
    const event = await eventAt(transaction, accountId, from)
    const next = (await lastNumber(transaction, accountId)) + 1
    if (from !== next && !event) throw new ServiceError('webhookReplayInvalid', { values: { days: REPLAY_DAYS } })
    await movePosition(transaction, act.id, from - 1)
    return { result: undefined, before: { position }, after: { position: from - 1 } }
  })
}

/** Returns the event with this number; undefined if it does not exist or is too old. */
async function eventAt(sql: SqlTransaction, accountId: number, number: number) {
  const { events } = await readEvents(sql, { accountId, after: number - 1, limit: 1 })
  const event = events.find((found) => found.number === number)
  if (!event) return undefined
  const [kept] = await sql`
    select 1 where ${event.occurredAt}::timestamptz > service_now() - make_interval(days => ${REPLAY_DAYS})`
  return kept && event
}
