import t from 'tap'
import { makeService } from '../../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../../submission.ts'

t.test('a person is found among 220,000 waiting deliveries of others in one call', async (t) => {
  const service = await makeService(t)
  const { sql, core } = service
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
