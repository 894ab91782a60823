import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, complaintsOf } from './ask.ts'
import { type Fields, mailBody } from './mail.ts'

const service = await makeService(t)
const url = await service.openApi()
const sender = await service.makeSender()
const to = [{ email: 'lena@harbor.example' }]
const RULE = /must be printable ASCII, without encoded words/

async function placeOf(extra: Fields, rule = RULE): Promise<string | null | undefined> {
  const answer = await ask(url, { path: '/mail/send', key: sender.apiKey, body: mailBody(sender, extra) })
  t.equal(answer.status, 400)
  const [complaint] = complaintsOf(answer)
  t.match(complaint?.message, rule)
  return complaint?.field
}

t.test('a List-Unsubscribe that would need an encoded word is refused, and named', async (t) => {
  const headers = { 'List-Unsubscribe': '<https://quay.example/köln>' }
  t.equal(await placeOf({ headers }), 'headers.List-Unsubscribe')
  t.equal(await placeOf({ personalizations: [{ to, headers }] }), 'personalizations.0.headers.List-Unsubscribe')
})

t.test('so are message ids beyond ASCII', async (t) => {
  for (const name of ['References', 'In-Reply-To']) {
    const headers = { [name]: '<a@b.example> <größe@b.example>' }
    const rule = /must have its message ids in angle brackets and in printable ASCII/
    t.equal(await placeOf({ headers }, rule), `headers.${name}`)
    t.equal(await placeOf({ personalizations: [{ to, headers }] }, rule), `personalizations.0.headers.${name}`)
  }
  const rule = /must be a message id in angle brackets/
  t.equal(await placeOf({ headers: { 'Message-ID': '<größe@b.example>' } }, rule), 'headers.Message-ID')
})
