import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, errorText } from '../call.ts'

t.test('checkEmail', async (t) => {
  const service = await makeService(t)
  const url = await service.openApi()
  const sender = await service.makeSender()
  const check = (body: Record<string, unknown>) =>
    call(url, { path: '/v2/sendEmail/check', headers: { api_key: sender.apiKey }, body })
  const stored = async () => {
    const [row] = await service.sql`select count(*)::int as count from messages where account_id = ${sender.accountId}`
    return row?.count
  }

  await t.test('counts the recipients of a message, and stores nothing', async (t) => {
    const personalizations = [{ recipient: 'lena@harbor.example', recipient_cc: ['nina@harbor.example'] }]
    t.match((await check({ ...v2Body(sender), personalizations })).json, { data: { recipients: 2 } })
    const many = Array.from({ length: 300 }, (_, number) => ({ recipient: `r${number}@harbor.example` }))
    t.match((await check({ ...v2Body(sender), personalizations: many })).json, { data: { recipients: 300 } })
    t.equal(await stored(), 0)
  })

  await t.test('refuses what sendEmail refuses, in its words', async (t) => {
    const valid = v2Body(sender)
    for (const change of [
      { from: { fromEmail: 'desk@nobody.example' } },
      { subject: undefined },
      { personalizations: [] },
      { templateId: 7 },
    ]) {
      const body = { ...valid, ...change }
      const checked = await check(body)
      const sent = await call(url, { headers: { api_key: sender.apiKey }, body })
      t.strictSame([checked.status, errorText(checked)], [sent.status, errorText(sent)])
      t.not(checked.status, 200, JSON.stringify(change))
    }
    t.equal(await stored(), 0)
  })
})
