import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

const service = await makeService(t)
const { core, sql } = service

t.test('a page of any length is full although the newest deliveries were erased', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  for (let n = 0; n < 5; n++) {
    const envelopes = Array.from({ length: 300 }, (_, at) => envelopeTo(`n${at}@harbor.example`))
    await acceptMessage(service, sender, { envelopes })
  }
  await sql`
    delete from delivery_queue where (message_id, recipient_no) in (
      select message_id, recipient_no from delivery_queue order by message_id desc, recipient_no desc limit 300)`
  const placesOf = ({ deliveries }: Awaited<ReturnType<typeof core.messages.list>>) =>
    deliveries.map(({ messageId, recipientNo }) => `${messageId} ${recipientNo}`)
  const whole = await core.messages.list({ accountId, search: {}, limit: 1500 })
  t.equal(new Set(placesOf(whole)).size, 1200)
  for (const limit of [1, 50, 999, 1000]) {
    const page = await core.messages.list({ accountId, search: {}, limit })
    t.strictSame(placesOf(page), placesOf(whole).slice(0, limit))
    t.match(page, { partial: false, next: String })
  }
})
