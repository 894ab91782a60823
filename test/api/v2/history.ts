import { randomBytes } from 'node:crypto'
import type { EventType } from '@postrider/core'
import type { Sender, TestService } from '../../helpers/service.ts'

/** A message of the past to one recipient or more, and what became of each, as the service would have written it. */
export interface Past {
  /** ISO 8601. */
  readonly acceptedAt: string
  readonly deliveries?: readonly PastDelivery[]
  readonly subject?: string
  readonly from?: string
  readonly tags?: readonly string[]
  readonly size?: number
  readonly transactionBase?: string
}

export interface PastDelivery {
  readonly recipient?: string
  readonly reference?: string
  readonly state?: 'delivered' | 'bounced' | 'dropped' | 'expired' | 'queued' | 'deferred'
  readonly reason?: string
  readonly finishedAt?: string
  readonly code?: number
  readonly enhanced?: string
  readonly reply?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly events?: readonly PastEvent[]
}

export interface PastEvent {
  readonly type: EventType
  readonly at: string
  readonly detail?: Readonly<Record<string, unknown>>
}

let numbers = 0

/** Answers the message's id, a UUID. */
export async function addPast({ sql }: TestService, { accountId, domain }: Sender, past: Past): Promise<string> {
  const { acceptedAt, subject = 'Berth 4', from = `desk@${domain}`, tags = [], size = 1834 } = past
  const { deliveries = [{}], transactionBase = String(17_676_078_000_000_000n + 4n * BigInt(numbers++)) } = past
  const id = idAt(new Date(acceptedAt))
  await sql`select ensure_partitions(${acceptedAt}::timestamptz, 2)`
  await sql`
    insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, tags, format, size, parts,
           recipients, transaction_base)
    values (${id}, ${accountId}, 1, 'v2', ${acceptedAt}, ${from}, ${subject}, ${[...tags]}, 'content', ${size}, 1,
            ${deliveries.length}, ${transactionBase})`
  for (const [no, delivery] of deliveries.entries()) await addDelivery({ sql, accountId, id, no, acceptedAt, delivery })
  return id
}

interface Row {
  readonly sql: TestService['sql']
  readonly accountId: number
  readonly id: string
  readonly no: number
  readonly acceptedAt: string
  readonly delivery: PastDelivery
}

async function addDelivery({ sql, accountId, id, no, acceptedAt, delivery }: Row): Promise<void> {
  const { recipient = 'lena@harbor.example', state = 'delivered', reason = null, reference = null } = delivery
  const { finishedAt = acceptedAt, code, enhanced, reply, attributes, events = [] } = delivery
  const personal = attributes ? JSON.stringify({ envelope: 0, attributes }) : null
  const known = [accountId, state, recipient, recipient.toLowerCase(), recipient.split('@')[1] ?? ''] as const
  if (state === 'queued' || state === 'deferred') {
    await sql`
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             reference, personal, next_at, expires_at)
      values (${id}, ${no}, ${known[0]}, ${known[1]}, ${known[2]}, ${known[3]}, ${known[4]}, 'to', ${reference},
              ${personal}::text::jsonb, service_now() + interval '1 day', service_now() + interval '2 days')`
  } else {
    await sql`
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, reference, personal, attempt, reason, finished_at)
      values (${id}, ${no}, ${known[0]}, ${known[1]}, ${known[2]}, ${known[3]}, ${known[4]}, 'to', ${reference},
              ${personal}::text::jsonb, 1, ${reason}, ${finishedAt})`
  }
  if (code !== undefined) {
    const outcome = { delivered: 'delivered', bounced: 'bounced' }[state as string] ?? 'deferred'
    await sql`
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, code,
             enhanced, reply)
      values (${id}, ${no}, 1, ${accountId}, 1, ${outcome}, ${finishedAt}, 20, ${code}, ${enhanced ?? null}, ${reply ?? null})`
  }
  const first = state === 'dropped' ? (reason === 'invalid' ? 'invalid' : 'dropped') : 'processed'
  const last = { delivered: 'sent', bounced: 'bounced', expired: 'expired', deferred: 'deferred' }[state as string]
  const own: PastEvent[] = [{ type: first, at: acceptedAt }]
  if (last && !events.some(({ type }) => type === last)) own.push({ type: last as EventType, at: finishedAt })
  for (const { type, at, detail } of [...own, ...events]) {
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      values (${at}, ${accountId}, ${type}, ${id}, ${no}, ${detail ? JSON.stringify(detail) : null}::text::jsonb)`
  }
}

/** A UUIDv7 of this moment. */
export function idAt(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  const rest = randomBytes(10).toString('hex')
  const hex = `${time}7${rest.slice(0, 3)}8${rest.slice(3, 18)}`
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
