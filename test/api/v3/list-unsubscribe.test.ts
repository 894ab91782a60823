import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, complaintsOf } from './ask.ts'
import { type Fields, mailBody } from './mail.ts'

const service = await makeService(t)
const url = await service.openApi()
const sender = await service.makeSender()
const to = [{ email: 'lena@harbor.example' }]
const RULE = /must be printable ASCII, without encoded words/

async function placeOf(extra: Fields): Promise<string | null | undefined> {
  const answer = await ask(url, { path: '/mail/send', key: sender.apiKey, body: mailBody(sender, extra) })
  t.equal(answer.status, 400)
  const [complaint] = complaintsOf(answer)
  t.match(complaint?.message, RULE)
  return complaint?.field
}

t.test('a List-Unsubscribe that would need an encoded word is refused, and named', async (t) => {
  const headers = { 'List-Unsubscribe': '<https://quay.example/köln>' }
  t.equal(await placeOf({ headers }), 'headers.List-Unsubscribe')
  t.equal(await placeOf({ personalizations: [{ to, headers }] }), 'personalizations.0.headers.List-Unsubscribe')
})
