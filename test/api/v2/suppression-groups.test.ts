import t from 'tap'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const url = await service.openApi()

t.test('a message that names a group is dropped for those who left it, and any other is queued', async (t) => {
  const sender = await service.makeSender()
  const { accountId, apiKey } = sender
  await service.core.suppressions.addAll({
    accountId,
    emails: ['gone@harbor.example'],
    group: 5,
    reason: 'unsubscribe',
  })
  const send = async (settings: Record<string, unknown>) => {
    const body = v2Body(sender, { personalizations: [{ recipient: 'Gone@harbor.example' }], settings })
    const answer = await sendV2(url, apiKey, body)
    const id = answer.body.data?.message_id
    return id ? (await service.core.messages.show(id))?.deliveries[0] : answer.body
  }
  t.match(await send({ group: 5 }), { state: 'dropped', reason: 'unsubscribe' })
  t.match(await send({ group: '5' }), { state: 'dropped', reason: 'unsubscribe' })
  for (const settings of [{}, { group: null }, { group: '' }, { group: 6 }]) {
    t.match(await send(settings), { state: 'queued' }, JSON.stringify(settings))
  }
  for (const group of ['news', 0, -5, 2_147_483_648, 1.5]) {
    t.match(await send({ group }), { error_info: { error_code: 113, error_message: /\[settings/ } }, String(group))
  }
})
