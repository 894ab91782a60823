import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyWebhook, WebhookError } from '../../packages/client/src/index.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 octets, ok').toString('base64')}`
const BODY = '[{"event":"sent","email":"löna@harbor.example"}]'

function signed(body = BODY, at = new Date(), id = 'msg_1') {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  }
  return { headers, body }
}

t.test('a request that is signed with the secret is read, in each form that servers have', async (t) => {
  const { headers, body } = signed()
  const wanted = JSON.parse(body)
  t.strictSame(await verifyWebhook({ headers, body }, SECRET), wanted)
  t.strictSame(await verifyWebhook({ headers, body: Buffer.from(body) }, SECRET), wanted)
  t.strictSame(await verifyWebhook({ headers: new Headers(headers), body }, SECRET), wanted)
  const request = new Request('http://localhost/hook', { method: 'POST', headers, body })
  t.strictSame(await verifyWebhook(request, SECRET), wanted)
  const rotating = { ...headers, 'webhook-signature': `v1,${btoa('old'.repeat(11))} ${headers['webhook-signature']}` }
  t.strictSame(await verifyWebhook({ headers: rotating, body }, SECRET), wanted, 'the second signature of a rotation')
})

t.test('any other request is refused', async (t) => {
  const { headers, body } = signed()
  const wrong: readonly (readonly [string, Parameters<typeof verifyWebhook>[0]])[] = [
    ['another body', { headers, body: body.replace('sent', 'open') }],
    ['another id', { headers: { ...headers, 'webhook-id': 'msg_2' }, body }],
    ['an old one', signed(BODY, new Date(Date.now() - 301_000))],
    ['one of the future', signed(BODY, new Date(Date.now() + 301_000))],
    ['no time', { headers: { ...headers, 'webhook-timestamp': 'x' }, body }],
    ['no signature', { headers: { 'webhook-id': 'msg_1' }, body }],
    ['another form', { headers: { ...headers, 'webhook-signature': 'v1,%%% v2,AAAA v1' }, body }],
  ]
  for (const [what, request] of wrong) await t.rejects(verifyWebhook(request, SECRET), WebhookError, what)
  await t.rejects(verifyWebhook({ headers, body }, `whsec_${btoa('another')}`), WebhookError)
  await t.rejects(verifyWebhook({ headers, body }, 'secret'), TypeError)
})
