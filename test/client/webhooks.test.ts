import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyWebhook, WebhookError, type WebhookRequest } from '../../packages/client/src/index.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 octets, ok').toString('base64')}`
const BODY = '[{"event":"sent","email":"löna@harbor.example"}]'

const NOW = Date.UTC(2026, 10, 30)

function signed(body = BODY, time = NOW, id = 'msg_1') {
  const at = new Date(time)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, at, body),
  }
  return { headers, body }
}

const verify = (request: WebhookRequest, secret = SECRET) => verifyWebhook(request, secret, NOW)

t.test('a request that is signed with the secret is read, in each form that servers have', async (t) => {
  const { headers, body } = signed()
  const wanted = JSON.parse(body)
  t.strictSame(await verify({ headers, body }), wanted)
  t.strictSame(await verify({ headers, body: Buffer.from(body) }), wanted)
  t.strictSame(await verify({ headers: new Headers(headers), body }), wanted)
  const request = new Request('http://localhost/hook', { method: 'POST', headers, body })
  t.strictSame(await verify(request), wanted)
  const rotating = { ...headers, 'webhook-signature': `v1,${btoa('old'.repeat(11))} ${headers['webhook-signature']}` }
  t.strictSame(await verify({ headers: rotating, body }), wanted, 'the second signature of a rotation')
})

t.test('any other request is refused', async (t) => {
  const { headers, body } = signed()
  const wrong: readonly (readonly [string, WebhookRequest])[] = [
    ['another body', { headers, body: body.replace('sent', 'open') }],
    ['another id', { headers: { ...headers, 'webhook-id': 'msg_2' }, body }],
    ['an old one', signed(BODY, NOW - 301_000)],
    ['one of the future', signed(BODY, NOW + 301_000)],
    ['no time', { headers: { ...headers, 'webhook-timestamp': 'x' }, body }],
    ['no signature', { headers: { 'webhook-id': 'msg_1' }, body }],
    ['another form', { headers: { ...headers, 'webhook-signature': 'v1,%%% v2,AAAA v1' }, body }],
  ]
  for (const [what, request] of wrong) await t.rejects(verify(request), WebhookError, what)
  await t.rejects(verify({ headers, body }, `whsec_${btoa('another')}`), WebhookError)
  await t.rejects(verify({ headers, body }, 'secret'), TypeError)
})
