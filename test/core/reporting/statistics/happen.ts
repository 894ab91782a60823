import { numberEvents } from '../../../helpers/number-events.ts'
import type { TestService } from '../../../helpers/service.ts'

export interface Happening {
  readonly type: string
  readonly messageId?: string
  readonly recipientNo?: number
  readonly detail?: Record<string, unknown>
  /** When, as SQL. Default service_now(). */
  readonly at?: string
}

/** Writes events, as whoever notes a fact does. */
export async function happen({ sql }: TestService, accountId: number, ...events: Happening[]): Promise<void> {
  for (const { type, messageId, recipientNo = 0, detail, at = 'service_now()' } of events) {
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      values (${sql.unsafe(at)}, ${accountId}, ${type}, ${messageId ?? null}::uuid, ${messageId ? recipientNo : null},
              ${detail ? JSON.stringify(detail) : null}::text::jsonb)`
  }
}

/** Counts all that has happened: events are counted as they are numbered. */
export const countAll = numberEvents
