import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { HANG_UP, type SinkAnswer } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'

const internet = await startInternet(t, { SITE_CONNECTIONS: '5' })
const { service } = internet

async function sendMany(count: number, domain: string, first = 0): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${first + at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status } = await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${status}`)
}

const deferredAt = (domain: string) => service.sql<{ attempt: number; unreached: string | null }[]>`
  select attempt, unreached from delivery_queue where recipient_domain = ${domain} and state = 'deferred' and worker_id is null`
const allDeferred = (domain: string, count: number) =>
  until('all to be deferred', async () => (await deferredAt(domain)).length === count || undefined, 60_000)

await until('the index', () => service.core.deliveries.isUnreachedIndexed())

const WAYS: readonly (readonly [how: string, greeting: SinkAnswer])[] = [
  ['hangs up', HANG_UP],
  ['refuses sessions for now', '421 4.3.2 not now'],
]
for (const [how, greeting] of WAYS) {
  t.test(
    `when a site that ${how} takes mail again, all that waits for it is sent, long before it is due`,
    async (t) => {
      let isOut = true
      const host = await internet.host(t, { greeting: () => (isOut ? greeting : undefined) })
      const domain = internet.domain([host])
      await sendMany(150, domain)
      await allDeferred(domain, 150)
      const unasked = await service.sql<{ place: string | null }[]>`
      select a.place from attempts a join delivery_queue q using (message_id, recipient_no)
       where q.recipient_domain = ${domain} and a.reply like 'not attempted%'`
      t.ok(
        unasked.length > 0 && unasked.every(({ place }) => place === null),
        'an attempt that was not made counts nowhere',
      )
      // Each has had three attempts, so that the next one is in a quarter of an hour.
      await service.sql`
      update delivery_queue set next_at = service_now() + interval '15 minutes' where recipient_domain = ${domain}`
      isOut = false
      // The hosts are not asked for half a minute after the last refusal.
      let sent = 150
      await until(
        'a message to arrive',
        async () => {
          await sendMany(1, domain, sent++)
          await until(
            'it to be tried',
            async () => host.messages.length > 0 || (await deferredAt(domain)).length === sent,
          )
          return host.messages.length > 0 || undefined
        },
        60_000,
      )
      await until(
        'all the others',
        () => new Set(host.messages.flatMap(({ to }) => to)).size === sent || undefined,
        30_000,
      )
      t.equal(host.messages.length, sent, 'each once')
    },
  )
}

t.test('mail that a host has refused for now waits for its time, since the host was there', async (t) => {
  const host = await internet.host(t, {
    rcpt: ({ command }) => (command.includes('<later') ? '451 4.2.0 the mailbox is busy' : undefined),
  })
  const domain = internet.domain([host])
  const id = await internet.send(`later@${domain}`)
  await internet.inState(id, 'deferred')
  await sendMany(20, domain)
  await until('the others', () => host.messages.length === 20 || undefined)
  t.equal(await service.core.deliveries.wakeUnreached([{ place: host.name, most: 100 }]), 0)
  t.match(await deferredAt(domain), [{ attempt: 1, unreached: null }])
})
