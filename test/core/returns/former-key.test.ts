import t from 'tap'
import { bounceReport } from '../../delivery/reports.ts'
import { makeService } from '../../helpers/service.ts'
import { anotherProcess } from '../people/people.ts'
import { acceptMessage } from '../submission.ts'

const FORMER = 'the key that leaked, of 32 characters'
const NEW = 'the key that replaces it, of 32 characters'

t.test('who knows a former key makes nothing that counts, once no process has it', async (t) => {
  const service = await makeService(t, { SECRET_KEY: NEW })
  const sender = await service.makeSender()
  const attacker = anotherProcess(t, service, { secretKey: FORMER })
  const during = anotherProcess(t, service, { secretKey: NEW, previousSecretKeys: [FORMER] })
  const forged = async () => {
    const { messageId } = await acceptMessage(service, sender)
    await service.sql`
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
                                       attempt, finished_at)
      select message_id, recipient_no, account_id, 'delivered', recipient, recipient_key, recipient_domain, kind, 1, service_now()
        from delivery_queue where message_id = ${messageId}::uuid`
    await service.sql`delete from delivery_queue where message_id = ${messageId}::uuid`
    const address = `${attacker.deliveries.returnPath({ messageId, recipientNo: 0 }, Date.now())}@bounces.test`
    return { raw: Buffer.from(bounceReport(address)), recipients: [address] }
  }
  t.not((await service.core.returns.take(await forged())).effect, 'bounced')
  t.match(
    await during.returns.take(await forged()),
    { effect: 'bounced' },
    'only as long as SECRET_KEY_PREVIOUS has it',
  )
})
