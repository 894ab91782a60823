import { randomUUID } from 'node:crypto'
import t from 'tap'
import { holding, untilBlocked } from '../../helpers/blocked.ts'
import { makeService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

t.test(
  'opens are classified in the order in which deliveries are changed, so that none is ended for a deadlock',
  async (t) => {
    const service = await makeService(t)
    const { core, sql } = service
    const sender = await service.makeSender()
    const envelopes = ['ann', 'bob'].map((name) => envelopeTo(`${name}@harbor.example`))
    const { messageId } = await acceptMessage(service, sender, { envelopes })
    // The second recipient opened it first.
    for (const [recipientNo, seconds] of [
      [1, 20],
      [0, 10],
    ] as const)
      await sql`
      insert into hits (id, at, account_id, message_id, recipient_no, kind, rules)
      values (${randomUUID()}, service_now() - make_interval(secs => ${seconds}), ${sender.accountId}, ${messageId}::uuid, ${recipientNo}, 'opened', 1)`
    const judging = await holding(t, service, async (locker) => {
      const lock = (recipientNo: number) =>
        locker`select from delivery_queue where recipient_no = ${recipientNo} for update`
      await lock(0)
      const judging = core.tracking.classify()
      await untilBlocked(locker, 1)
      await lock(1)
      return { done: judging }
    })
    t.equal(await judging.done, false)
    t.equal((await sql`select from events where type = 'opened'`).count, 2)
  },
)
