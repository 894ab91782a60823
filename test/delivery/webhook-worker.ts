import { createLog, type WebhookSettings } from '@postrider/core'
import type { Test } from 'tap'
import { runLoop } from '../../packages/delivery/src/loops/loop.ts'
import { runWebhookLoop } from '../../packages/delivery/src/loops/webhook-loop.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

export const LOOPBACK = { WEBHOOK_PRIVATE_NETWORKS: 'allow' }

/** A service with the loops of a worker that tell webhooks of events. */
export async function startTelling(t: Test, settings: Record<string, string> = LOOPBACK): Promise<TestService> {
  const service = await makeService(t, settings)
  runLoops(t, service)
  return service
}

export function runLoops(t: Test, { core }: TestService): { stop(): Promise<void> } {
  const log = createLog('test', 'silent')
  const webhooks = runWebhookLoop({ core, log })
  const numbering = async () => (await core.events.sequence()).more
  const loops = [
    runLoop({ name: 'event', readiness: core.readiness, log, act: numbering, every: 1000, breath: 5 }),
    webhooks,
  ]
  const listening = core.events.listen(webhooks.wake)
  let stopped: Promise<unknown> | undefined
  const stop = async () => {
    stopped ??= listening.then(({ close }) => close()).then(() => Promise.all(loops.map((loop) => loop.stop())))
    await stopped
  }
  t.teardown(stop)
  return { stop }
}

/** Waits until an event that is added now has reached another account's webhook: by then the loops have taken what was due before. */
export async function untilPassed(t: Test, service: TestService): Promise<void> {
  const receiver = await startReceiver(t)
  const sender = await service.makeSender()
  await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 1)
  await until('the other webhook to be notified', () => receiver.batches().length > 0)
}

const SETTINGS: WebhookSettings = {
  url: '',
  events: ['sent', 'bounced', 'opened', 'dropped'],
  format: 'v2',
  asText: false,
  abuse: false,
  eventIds: true,
  headers: {},
  enabled: true,
  names: null,
  label: '',
  signed: true,
}

export async function addWebhook(
  { core }: TestService,
  { accountId }: Sender,
  url: string,
  settings: Partial<WebhookSettings> = {},
): Promise<{ id: number; secret: string }> {
  const { webhook, secret } = await core.webhooks.create(accountId, { ...SETTINGS, ...settings, url })
  return { id: webhook.id, secret }
}

let messages = 0

/** Events of mail that was sent, one for each of a message's recipients; their details by number. */
export async function addEvents(
  { sql }: TestService,
  { accountId, domain }: Sender,
  count: number,
  {
    type = 'sent',
    detail = { code: 250, enhanced: '2.0.0', reply: 'Ok' } as object,
    tags = ['berth'] as string[],
  } = {},
): Promise<void> {
  const base = 17_676_078_720_000_000 + 4_000_000 * messages++
  await sql`
    with message as (
      insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, format, size, parts, recipients,
             transaction_base, tags)
      select (left(uuidv7_floor(service_now())::text, 24) || substr(md5(random()::text), 1, 12))::uuid, ${accountId}, 1, 'v2', service_now(),
      ${`desk@${domain}`}, 'Berth', 'mime', 1834, 1, ${count},
             ${base}, ${tags}::text[]
      returning id
    ), finished as (
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             attempt, finished_at, reference)
      select id, n, ${accountId}, 'delivered', 'r' || n || '@harbor.example', 'r' || n || '@harbor.example', 'harbor.example', 'to', 1,
             service_now(), 'order-' || n
        from message, generate_series(0, ${count - 1}) n
    )
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), ${accountId}, ${type}, id, n, ${JSON.stringify(detail)}::text::jsonb
      from message, generate_series(0, ${count - 1}) n`
}

interface Told {
  readonly EVENTID: string
  readonly TRANSID: number
}

/** The ids of all events in these bodies, as often as they came. */
export function idsIn(bodies: readonly { body: string }[]): string[] {
  return bodies.flatMap(({ body }) => (JSON.parse(body) as Told[]).map(({ EVENTID }) => EVENTID))
}
