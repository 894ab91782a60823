import type { PersonPage } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../../submission.ts'

const service = await makeService(t)
const { sql, core } = service

t.test('a recipient who opens very often is exported completely, a thousand events a page', async (t) => {
  const { accountId, ...sender } = await service.makeSender()
  const email = 'opener@harbor.example'
  const accept = () => acceptMessage(service, { accountId, ...sender }, { envelopes: [envelopeTo(email)] })
  const messages = [await accept()]
  await core.suppressions.add({ accountId, scope: 'address', value: email, reason: 'manual' })
  messages.push(await accept(), await accept(), await accept())
  // In each microsecond there are several, which only their ids order.
  for (const [at, count] of [2500, 700, 700, 2000].entries())
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      select now() + n / 700 * interval '1 microsecond', ${accountId}, 'opened', ${messages[at]?.messageId as string}::uuid, 0, jsonb_build_object('n', n)
        from generate_series(1, ${count}::int) n`
  const seen = new Map<string, unknown[]>()
  let pages = 0
  for (let next: string | undefined = ''; next !== undefined && pages < 20; pages++) {
    const page: PersonPage = await core.privacy.export(accountId, { email, limit: 10, next })
    t.ok(page.deliveries.reduce((sum, { events }) => sum + events.length, 0) <= 1000)
    for (const { messageId, events } of page.deliveries) {
      const opened = events.filter(({ type }) => type === 'opened').map(({ detail }) => (detail as { n: number }).n)
      seen.set(messageId, [...(seen.get(messageId) ?? []), ...opened])
    }
    next = page.next
  }
  t.same(
    [...seen.values()],
    [2500, 700, 700, 2000].map((count) => Array.from({ length: count }, (_, at) => at + 1)),
  )
  t.equal(pages, 9, 'three of the first, one of each of the next two, three of the last, and an empty one')
})

t.test('a person is found among 220,000 waiting deliveries of others in one call', async (t) => {
  const sender = await service.makeSender()
  // In pieces, each of which a busy machine inserts within the time of a statement.
  for (let from = 1; from <= 220_000; from += 20_000)
    await sql`
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             next_at, expires_at)
      select uuidv7_floor(now() - interval '1 hour'), number, 0, 'queued', 'a@d.example', 'a@d.example', 'd.example', 'to', now(), now()
        from generate_series(${from}::int, ${from + 19_999}::int) as number`
  await acceptMessage(service, sender, { envelopes: [envelopeTo('vera@harbor.example')] })
  const asked = { email: 'vera@harbor.example', limit: 10 }
  const { deliveries, next } = await core.privacy.export(sender.accountId, asked)
  t.match(deliveries, [{ recipient: 'vera@harbor.example', state: 'queued' }])
  t.equal(next, undefined)
})
