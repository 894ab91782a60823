import { OPERATIONS } from '@postrider/api'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call, errorText } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()

/** Calling these twice makes two. */
const CREATING = [
  'addDomain',
  'rotateDkim',
  'createTemplate',
  'addTemplateVersion',
  'uploadAttachment',
  'createSubaccount',
  'setSubaccountCredit',
  'createKey',
  'rotateKey',
  'forgetPerson',
  'createExport',
  'createWebhook',
  'rotateWebhookSecret',
  'addSuppression',
  'importSuppressions',
]

for (const name of CREATING) {
  t.test(`${name} says that it takes no Idempotency-Key`, async (t) => {
    const operation = OPERATIONS.find((one) => one.name === name)
    const [path = ''] = operation?.routes[0] ?? []
    const body = operation?.takes ? 'email\na@x.test\n' : JSON.stringify(operation?.example.input)
    const answer = await call(base, {
      path: `/v2${path.replace(/:\w+/g, '1')}`,
      headers: {
        api_key: sender.apiKey,
        'idempotency-key': 'once',
        'content-type': operation?.takes ?? 'application/json',
      },
      body,
    })
    const text =
      'Parameter [Idempotency-Key] is invalid: is accepted by calls that send mail only; repeating this call repeats its effect'
    t.strictSame([answer.status, errorText(answer)], [400, text])
  })
}

t.test('what only reads passes over it', async (t) => {
  const headers = { api_key: sender.apiKey, 'idempotency-key': 'once' }
  t.equal((await call(base, { path: '/v2/getTemplates', headers })).status, 200)
})
