import { createCore, createLog, OF_MANY } from '@postrider/core'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { submissionOf } from '../submission.ts'

t.test('the share of stored content is that of all messages of a call, and beyond it none is stored', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const { sql, config } = service
  const { messages, readiness } = createCore({ sql, config, log: createLog('test', 'silent'), share: OF_MANY })
  t.teardown(() => readiness.close())
  await readiness.check()
  const { id } = await service.core.templates.create({
    accountId: sender.accountId,
    name: 'berth',
    content: `<p>${'x'.repeat(100_000)}</p>`,
  })
  const one = await submissionOf(service, sender, { templateId: id })
  const stored = async () => (await sql`select from messages`).length
  await t.rejects(messages.acceptAll([one, one, one], 3), /exceeds the share/)
  t.equal(await stored(), 0)
  const outcomes = await messages.acceptAll([one, one], 2)
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  t.equal(await stored(), 2)
})
