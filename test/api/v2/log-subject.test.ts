import t from 'tap'
import { makeArrivals } from '../arrivals.ts'
import { call } from '../call.ts'

const { service, base, sender, send, copies } = await makeArrivals(t)

const SENT: readonly (readonly [subject: string, attributes: Record<string, string>, seen: string])[] = [
  ['Hi [%NAME%]', { name: 'Ada' }, 'Hi Ada'],
  ['Hi [%NAME%], berth [%BERTH%].', { NAME: 'Ada' }, 'Hi Ada, berth .'],
  ['Hi [%NAME%].', {}, 'Hi .'],
  ['Hi [%GUEST%]', {}, 'Hi stranger'],
  ['Hi [%guest%]', { GUEST: '' }, 'Hi stranger'],
  ['Hi [%GUEST%]', { guest: 'Ada' }, 'Hi Ada'],
  ['no tag', { NAME: 'Ada' }, 'no tag'],
]
const template = await service.core.templates.create({
  ...{ accountId: sender.accountId, name: 'with a default', content: '<p>[%GUEST%]</p>' },
  variables: [{ name: 'GUEST', type: 'string', required: false, default: 'stranger' }],
})

for (const [subject, attributes, seen] of SENT) {
  t.test(`the log has the subject that was sent: ${subject} with ${JSON.stringify(attributes)}`, async (t) => {
    const answer = await send({
      ...{ subject, templateId: template.id, content: '%20' },
      personalizations: [{ recipient: 'lena@harbor.example', attributes }],
    })
    t.equal((await copies(answer))[0]?.mail.subject, seen)
    const id = answer.body.data?.message_id
    const query = `startdate=2026-01-01&messageid=${id}`
    const log = await call(base, { method: 'GET', path: `/v2/logs?${query}`, headers: { api_key: sender.apiKey } })
    t.match(log.json, { data: [{ subject: seen }] }, log.text)
  })
}
