import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call } from '../call.ts'

const service = await makeService(t, { BODY_BUDGET_MB: '32' })
const base = await service.openApi()
const sender = await service.makeSender()

t.test('small calls that name large content are refused for a moment instead of filling the memory', async (t) => {
  const { id } = await service.core.templates.create({
    accountId: sender.accountId,
    name: 'large',
    content: `<p>${'x'.repeat(9_900_000)}</p>`,
  })
  const { id: fileId } = await service.core.attachments.add({
    accountId: sender.accountId,
    fileName: 'large.bin',
    content: Buffer.alloc(15_000_000),
    parameters: { fileName: 'fileName', content: 'fileContent' },
  })
  const ask = (extra: Record<string, unknown>) =>
    call(base, { headers: { api_key: sender.apiKey }, body: v2Body(sender, extra) })
  for (const extra of [{ templateId: id }, { attachmentId: fileId }, { templateId: id, attachmentId: fileId }]) {
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(extra)))
    const statuses = answers.map(({ status }) => status)
    t.strictSame([...new Set(statuses)].sort(), [200, 503], JSON.stringify(statuses))
    const refused = answers.find(({ status }) => status === 503)
    t.match(refused, { headers: { 'retry-after': '1' }, json: { error_info: { error_code: 503 } } })
    t.equal((await ask(extra)).status, 200, 'a moment later there is room again')
  }
})
