import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { type CallOptions, call, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const key = { api_key: sender.apiKey }
const body = v2Body(sender)

/** Of two that are broken the first is told: each step repairs what the refusal before it named. */
t.test('of several mistakes the first of the contract’s order is told', async (t) => {
  const { core } = service
  const account = await core.accounts.create('late')
  await core.accounts.expire(account.id, null)
  const elsewhere = await core.auth.createKey({ accountId: account.id, networks: ['192.0.2.0/24'] })
  const expired = await core.auth.createKey({ accountId: account.id })
  const steps: readonly (readonly [CallOptions, number])[] = [
    [{ method: 'PUT', body: '{' }, 405],
    [{ body: '{' }, 100],
    [{ headers: { api_key: 'nope' }, body: '{' }, 101],
    [{ headers: { api_key: elsewhere.secret }, body: '{' }, 102],
    [{ headers: { api_key: expired.secret }, body: '' }, 115],
    [{ headers: key, body: '' }, 110],
    [{ headers: key, body: '{' }, 111],
  ]
  for (const [options, code] of steps) {
    const { json, text } = await call(base, options)
    t.match(json, { error_info: { error_code: code } }, text)
  }
  let broken: Record<string, unknown> = {
    personalizations: {},
    from: { fromEmail: '' },
    subject: '',
    content: '',
    templateId: 999999,
    attachmentId: '77',
  }
  const repairs: readonly (readonly [Record<string, unknown>, number])[] = [
    [{}, 120],
    [{ personalizations: [] }, 113],
    [{ from: { fromEmail: 'desk@unknown.example' } }, 112],
    [{ from: body.from }, 114],
    // Not 116: a template that does not exist could have had a subject.
    [{ personalizations: [{ recipient: 'not-an-address' }] }, 118],
    [{ templateId: null }, 116],
    [{ subject: 'S' }, 117],
    [{ content: 'C' }, 119],
  ]
  for (const [repair, code] of repairs) {
    broken = { ...broken, ...repair }
    refused(t, await call(base, { headers: key, body: broken }), [400, code])
  }
  t.equal((await call(base, { headers: key, body: { ...broken, attachmentId: '' } })).status, 200)
})
