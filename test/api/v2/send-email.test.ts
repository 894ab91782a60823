import t from 'tap'
import { makeService } from '../../helpers/service.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()

t.test('sendEmail answers the success envelope with a message id', async (t) => {
  const response = await fetch(`${base}/v2/sendEmail`, {
    method: 'POST',
    headers: { api_key: sender.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ recipient: 'lena@harbor.example' }],
      from: { fromEmail: `desk@${sender.domain}`, fromName: 'Ship Desk' },
      subject: 'Berth 4',
      content: '<p>Your berth is ready.</p>',
    }),
  })
  t.equal(response.status, 200)
  const body = (await response.json()) as { data: { message_id: string } }
  t.match(body, { message: 'Success', error_info: null })
  t.match(body.data.message_id, /^[0-9a-f]{32}$/)
})
