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
export async function addPast(
  { sql }: TestService,
  { accountId, domain }: Pick<Sender, 'accountId' | 'domain'>,
  past: Past,
): Promise<string> {
  const { acceptedAt, subject = 'Berth 4', from = `desk@${domain}`, tags = [], size = 1834 } = past
  const { deliveries = [{}], transactionBase = String(17_676_078_000_000_000n + 4n * BigInt(numbers)) } = past
  const id = idAt(new Date(acceptedAt))
  numbers += deliveries.length
  await sql`select ensure_partitions(${acceptedAt}::timestamptz, 2)`
  await sql`
    insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, tags, format, size, parts,
           recipients, transaction_base)
    values (${id}, ${accountId}, 1, 'v2', ${acceptedAt}, ${from}, ${subject}, ${[...tags]}, 'content', ${size}, 1,
            ${deliveries.length}, ${transactionBase})`
  const rows = deliveries.map((delivery, no) => rowOf(delivery, no, acceptedAt))
  const json = (of: readonly unknown[]) => sql`${JSON.stringify(of)}::text::json`
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
           reference, personal, next_at, expires_at)
    select ${id}, no, ${accountId}, state, recipient, lower(recipient), split_part(recipient, '@', 2), 'to', reference, personal,
           service_now() + interval '1 day', service_now() + interval '2 days'
      from json_to_recordset(${json(rows.filter(({ waits }) => waits))})
           as r(no int, state text, recipient text, reference text, personal jsonb)`
  await sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
           kind, reference, personal, attempt, reason, finished_at)
    select ${id}, no, ${accountId}, state, recipient, lower(recipient), split_part(recipient, '@', 2), 'to', reference, personal, 1,
           reason, finished
      from json_to_recordset(${json(rows.filter(({ waits }) => !waits))})
           as r(no int, state text, recipient text, reference text, personal jsonb, reason text, finished timestamptz)`
  await sql`
    insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, started_at, milliseconds, code,
           enhanced, reply)
    select ${id}, no, 1, ${accountId}, 1, outcome, finished, 20, code, enhanced, reply
      from json_to_recordset(${json(rows.filter(({ code }) => code !== undefined))})
           as r(no int, outcome text, finished timestamptz, code int, enhanced text, reply text)`
  await sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select at, ${accountId}, type, ${id}, no, detail
      from json_to_recordset(${json(rows.flatMap(({ no, events }) => events.map((event) => ({ no, ...event }))))})
           as e(no int, at timestamptz, type text, detail jsonb)`
  return id
}

function rowOf(delivery: PastDelivery, no: number, acceptedAt: string) {
  const { recipient = 'lena@harbor.example', state = 'delivered', reason, reference, events = [] } = delivery
  const { finishedAt: finished = acceptedAt, code, enhanced, reply, attributes } = delivery
  const first = state !== 'dropped' ? 'processed' : reason === 'invalid' ? 'invalid' : 'dropped'
  const last = OUTCOMES[state]
  const own: PastEvent[] = [{ type: first, at: acceptedAt }]
  if (last && !events.some(({ type }) => type === last)) own.push({ type: last, at: finished })
  return {
    no,
    recipient,
    state,
    reason,
    reference,
    finished,
    code,
    enhanced,
    reply,
    personal: attributes ? { envelope: 0, attributes } : null,
    outcome: state === 'delivered' || state === 'bounced' ? state : 'deferred',
    waits: state === 'queued' || state === 'deferred',
    events: [...own, ...events],
  }
}

/** What the service says of how a delivery ended, or of where it stands. */
const OUTCOMES: Readonly<Record<string, EventType>> = {
  delivered: 'sent',
  bounced: 'bounced',
  expired: 'expired',
  deferred: 'deferred',
}

/** A UUIDv7 of this moment. */
export function idAt(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  const rest = randomBytes(10).toString('hex')
  const hex = `${time}7${rest.slice(0, 3)}8${rest.slice(3, 18)}`
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
