import type { TestService } from '../../../helpers/service.ts'

/** One with a quarter of an hour in it, and three whose clocks change on the days below, one by half an hour. */
export const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe']
/** Clocks go forward on 2025-10-05 (Lord Howe), and back on 2025-10-26 (Berlin) and 2025-11-02 (New York). */
const FIRST_DAYS = ['2025-10-04', '2025-10-25', '2025-11-01']
/** When all of it has happened. */
export const AFTERWARDS = '2025-11-08'
const MESSAGES = 9000
const TAGS = [[], ['berth'], ['berth', 'confirm'], ['confirm', 'confirm'], ['été, "x"', 'berth']]

/** A delivery of what the tests have events of. */
export interface Delivery {
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly acceptedAt: Date
}

export interface NewEvent {
  readonly at: string
  readonly accountId: number
  readonly type: string
  readonly messageId: string | null
  readonly recipientNo: number | null
  readonly detail: string | null
}

/** An account for each time zone, with messages of several domains, tags and recipients, three deliveries each. */
export async function makeMail({
  sql,
  makeSender,
}: TestService): Promise<{ accounts: number[]; deliveries: Delivery[] }> {
  const accounts: number[] = []
  for (const zone of ZONES) {
    const { accountId } = await makeSender()
    accounts.push(accountId)
    await sql`update accounts set time_zone = ${zone} where id = ${accountId}`
  }
  for (const day of FIRST_DAYS) await sql`select ensure_partitions(${day}::text::timestamptz, 1)`
  await sql`
    insert into messages (id, account_id, domain_id, door, accepted_at, scheduled_at, from_address, subject, tags, format, size,
                          parts, recipients, transaction_base)
    select overlay(uuidv7_floor(at)::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, (${accounts}::int[])[1 + n % 5], 1,
           'v2', at, case when n % 7 = 0 then at + interval '90 minutes' end,
           'desk@' || (array['ship', 'quay', 'dock'])[1 + n / 3 % 3] || '.example', '',
           array(select jsonb_array_elements_text(${JSON.stringify(TAGS)}::text::jsonb->(n / 5 % 5)))
             || case when n % 2 = 0 then array['invoice-' || n % 40] else '{}' end,
           'content', 1, 1, 3, 0
      from (select n, (${FIRST_DAYS}::text[])[1 + n % 3]::timestamptz + n * interval '11 seconds' as at
              from generate_series(1, ${MESSAGES}::int) n) made`
  // The third one is neither waiting nor finished, as if it were no longer kept.
  await sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
                                     kind, attempt, finished_at)
    select id, 0, account_id, 'delivered', '', '', (array['harbor.example', 'pier.example', ''])[1 + abs(hashtext(id::text) % 3)],
           'to', 1, accepted_at from messages`
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
                                kind, next_at, expires_at)
    select id, 1, account_id, 'scheduled', '', '', 'quay.example', 'to', 'infinity', 'infinity' from messages`
  const deliveries = await sql<Delivery[]>`
    select id as "messageId", no as "recipientNo", account_id as "accountId", accepted_at as "acceptedAt"
      from messages, generate_series(0, 2) no order by id, no`
  return { accounts, deliveries: [...deliveries] }
}

const TYPES = [
  'processed',
  'processed',
  'sent',
  'sent',
  'deferred',
  'bounced',
  'dropped',
  'invalid',
  'expired',
  'opened',
  'opened',
  'clicked',
  'unsubscribed',
  'complained',
  'domain',
]
const DETAILS: Readonly<Record<string, readonly object[]>> = {
  bounced: ['bad-mailbox', 'bad-domain', 'moved', 'not-accepting', 'mailbox-inactive', 'mailbox-full', 'other'].map(
    (name) => ({ class: name }),
  ),
  dropped: ['unsubscribe', 'manual', 'global', 'hardbounce', 'abuse', 'cancelled'].map((reason) => ({ reason })),
  opened: [{ first: true, rules: 1 }, { rules: 1 }, { machine: 'proxy' }],
  clicked: [{ first: true, url: 'x' }, { url: 'x' }, { machine: 'head' }],
}

/** Of any type, of any of the deliveries, up to three days after their messages; of one account some of messages that are gone. */
export function randomEvents(deliveries: readonly Delivery[], count: number, goneOf: number): NewEvent[] {
  let seed = 20261121
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const sent = new Set<Delivery>()
  return Array.from({ length: count }, () => {
    const delivery = pick(deliveries)
    // A delivery is sent once.
    const type = sent.has(delivery) ? pick(TYPES.filter((one) => one !== 'sent')) : pick(TYPES)
    if (type === 'sent') sent.add(delivery)
    const { accountId, acceptedAt, recipientNo } = delivery
    const gone = accountId === goneOf && random(20) === 0
    const details = DETAILS[type]
    return {
      // Most soon, some after days, a few at the same moment or before it.
      at: new Date(acceptedAt.getTime() - 3 + Math.floor(259_200_000 ** (random(10_000) / 10_000))).toISOString(),
      accountId,
      type,
      recipientNo: type === 'domain' ? null : recipientNo,
      messageId: type === 'domain' ? null : gone ? '00000000-0000-7000-8000-000000000001' : delivery.messageId,
      detail: details ? JSON.stringify(pick(details)) : null,
    }
  })
}
