import t from 'tap'
import { answered } from '../cli/postrider.ts'
import { closeAccount } from '../core/retention/deletion/deleted.ts'
import { acceptMessage, submissionOf } from '../core/submission.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'
import { untilParkedAt } from './parked.ts'

const sink = await startSink(t, {})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, inState } = outbox
const { core, env } = service

t.test('mail of a closed account waits, says why, and is delivered once the account is restored', async (t) => {
  const [closed, other] = [await service.makeSender(), await service.makeSender()]
  const late = await submissionOf(service, closed)
  await closeAccount(service, closed.accountId)
  // As calls do that had begun before.
  const messageId = await untilParkedAt(
    service,
    'account:held',
    async () => (await core.messages.accept(late)).messageId,
  )
  const { messageId: sent } = await acceptMessage(service, other)
  await inState(sent, 'delivered')
  t.match(await inState(messageId, 'queued'), { attempts: [] })
  const why = await answered<{ deliveries: { text: string }[] }>(env, 'message', 'why', messageId.replaceAll('-', ''))
  t.match(JSON.stringify(why), 'The account is closed, and will be deleted')
  await core.retention.deletions.restore(closed.accountId)
  t.match(await inState(messageId, 'delivered'), { attempts: [{ outcome: 'delivered' }] })
})
