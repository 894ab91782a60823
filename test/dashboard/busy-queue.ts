import { fillQueue } from '../core/delivery/filled-queue.ts'
import type { TestService } from '../helpers/service.ts'

/** Fills the queue as on a bad day: a provider that slows mail down, one that a rule has paused, a site that the operator has paused, a held account, and refusals. */
export async function makeBusyQueue(
  { core, sql }: TestService,
  accountId: number,
): Promise<{ readonly heldAccount: number }> {
  const { limits } = core.deliveries
  const { id: heldAccount } = await core.accounts.create('Lumen <b>Letters</b>')
  await fillQueue(sql, {
    accountIds: [accountId, heldAccount],
    count: 900,
    columns: {
      place: "(array['outlook', 'google', 'mx.old-mill.example', 'account:held', null])[1 + n % 5]",
      waiting_for: "(array['rate', 'connections', 'pause', 'account', null])[1 + n % 5]",
      class: 'n % 3',
      recipient_domain:
        "(array['outlook.example', 'harbor.example', 'old-mill.example', 'lumen.example', 'souq.example'])[1 + n % 5]",
    },
  })
  const rule = { accountId: null, value: null, seconds: null, lasts: 7200 }
  await limits.set({
    ...rule,
    place: 'outlook',
    setting: 'rate',
    value: 120,
    seconds: 60,
    rule: 'outlook-rate-limited',
    reason:
      '451 4.7.650 The mail server [192.0.2.7] has been temporarily rate limited due to IP reputation <script>alert(1)</script>',
  })
  await limits.set({
    ...rule,
    place: 'yahoo',
    setting: 'pause',
    rule: 'yahoo-tss04',
    reason: '421 4.7.0 [TSS04] Messages from 192.0.2.7 temporarily deferred',
  })
  await core.queue.pause({
    place: 'mx.old-mill.example',
    accountId: null,
    seconds: 86_400,
    reason: 'they move their servers until Monday',
  })
  await core.reputation.hold({ accountId: heldAccount, reason: 'the list was bought, says support \u202Egro' })
  await limits.countRefusals([
    {
      place: 'outlook',
      class: 'rate',
      permanent: 0,
      forNow: 190,
      reply: '451 4.7.650 The mail server [192.0.2.7] is rate limited',
    },
    {
      place: 'mx.mill-race.example',
      class: 'spam',
      permanent: 41,
      forNow: 0,
      reply: '554 5.7.1 <b>Service refused</b> \u202Egro',
    },
  ])
  const flow = [{ place: 'outlook', accountId, class: 1 as const, tried: 190 }]
  await sql`
    insert into flow_progress (place, account_id, class, since, tried)
    select p->>'place', (p->>'accountId')::int, (p->>'class')::int, service_now() - interval '100 seconds', (p->>'tried')::int
      from jsonb_array_elements(${JSON.stringify(flow)}::text::jsonb) p`
  return { heldAccount }
}
