import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { filterOf } from '../../delivery/control/job-filter.ts'
import type { Flow } from '../../delivery/queue/flows.ts'
import { onlyRow, type Sql } from '../../platform/database/database.ts'
import { messageIdText, parseMessageId } from '../../submission/message-id.ts'

export interface TryNowResult {
  /** 32 hex digits. */
  readonly id: string
  /** Deliveries that are due now. They are tried as the limits of their provider allow. */
  readonly due: number
  /** Deferred deliveries that were tried within the last minute, or must wait: after a lost connection, held or set aside. */
  readonly notYet: number
  /** Deliveries in any other state. */
  readonly others: number
}

/** Seconds after an attempt before which a delivery is not tried again by order: a server that greylists would take it as a flood. */
const MIN_PAUSE_SECONDS = 60

/**
 * Makes the deferred deliveries of a message due now; undefined if there is no such message, or not in the account. Limits, pauses and holds apply
 * as before: what waits for capacity at its place keeps its turn there, and what waits after an indeterminate attempt goes on waiting.
 */
export async function tryNow(
  { sql, announce }: { readonly sql: Sql; readonly announce: (flow: Flow) => void },
  { messageId, accountId }: { readonly messageId: string; readonly accountId?: number | undefined },
  by: Actor,
): Promise<TryNowResult | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const result = (await sql.begin(async (transaction) => {
    const [message] = await transaction<{ accountId: number }[]>`
      select account_id as "accountId" from messages
       where id = ${id}::uuid ${accountId === undefined ? transaction`` : transaction`and account_id = ${accountId}::int`}`
    if (!message) return undefined
    const due = await transaction<Pick<Flow, 'class'>[]>`
      update delivery_queue set next_at = service_now()
       where (message_id, recipient_no) in (
         select q.message_id, q.recipient_no from delivery_queue q
          where q.message_id = ${id}::uuid and q.state = 'deferred' and q.place is null
            and ${filterOf(transaction, 'flush', {})}
            and not exists (
              select from attempts a
               where a.message_id = q.message_id and a.recipient_no = q.recipient_no
                 and a.started_at + make_interval(secs => a.milliseconds / 1000.0) > service_now() - make_interval(secs => ${MIN_PAUSE_SECONDS}::int)
              offset 0)
          order by q.recipient_no for update skip locked)
      returning class`
    const { deferred, recipients } = onlyRow(
      await transaction<{ deferred: number; recipients: number }[]>`
        select (select count(*)::int from delivery_queue where message_id = ${id}::uuid and state = 'deferred') as deferred,
               (select recipients from messages where id = ${id}::uuid) as recipients`,
    )
    const object = `message ${messageIdText(id)}`
    const account = message.accountId
    const after = { due: due.length }
    if (due.length > 0)
      await noteChange(transaction, { accountId: account, by, action: 'message.try-now', object, after })
    const counts = { due: due.length, notYet: deferred - due.length, others: recipients - deferred }
    return { flow: due[0] && { accountId: account, class: due[0].class }, shown: { id: messageIdText(id), ...counts } }
  })) as { flow: Flow | undefined; shown: TryNowResult } | undefined
  if (result?.flow) announce(result.flow)
  return result?.shown
}
