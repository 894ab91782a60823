import t from 'tap'
import { acceptMessage } from '../../core/submission.ts'
import { addWebhook } from '../../delivery/webhook-worker.ts'
import { makeService } from '../../helpers/service.ts'
import { ask, connect, openOther, planIn, use } from './clients.ts'

const service = await makeService(t, { MCP: 'on', BODY_BUDGET_MB: '32' })
const url = await service.openApi()
const [owner, stranger] = [await service.makeSender(), await service.makeSender()]
const { core } = service
const LIST = { method: 'tools/list' }

t.test('without a valid key nothing is told, and the answer says how to log in', async (t) => {
  for (const headers of [
    {},
    { api_key: 'pr_wrong' },
    { authorization: 'Bearer pr_wrong' },
    { authorization: 'Basic eA==' },
  ]) {
    const response = await ask(url, headers, LIST)
    t.match(response, { status: 401, json: { jsonrpc: '2.0', error: { code: -32000 } } })
    t.match(response.headers['www-authenticate'], /^Bearer /)
  }
  const metadata = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)
  t.equal(metadata.status, 404, 'no server gives tokens for it')
})

t.test('a revoked key stops, also within a connection', async (t) => {
  const { key, secret } = await core.auth.createKey({ accountId: owner.accountId })
  const client = await connect(t, url, { key: secret, era: 'modern' })
  t.ok((await use(client, 'show_key')).json())
  await core.auth.revokeKey(key.id)
  const other = await openOther(t, service)
  t.equal((await ask(other, { api_key: secret }, LIST)).status, 401)
})

t.test('pages of another origin are refused before the key is looked at', async (t) => {
  const bearer = { authorization: `Bearer ${owner.apiKey}` }
  for (const origin of ['http://evil.example', 'null', `${url}.evil.example`])
    t.match(await ask(url, { ...bearer, origin }, LIST), { status: 403, json: { error: { message: /origin/ } } })
  const rebound = { ...bearer, origin: 'http://localhost:3000', host: 'evil.example' }
  t.equal((await ask(url, rebound, LIST)).status, 403)
  t.equal((await ask(url, { ...bearer, origin: 'http://localhost:3000' }, LIST)).status, 200, 'on this machine')
  const own = new URL(service.config.publicUrl).origin
  t.equal((await ask(url, { ...bearer, origin: own }, LIST)).status, 200)
})

t.test('tools beyond the scopes of the key are neither listed nor usable', async (t) => {
  const { secret } = await core.auth.createKey({ accountId: owner.accountId, scopes: ['events'] })
  const client = await connect(t, url, { key: secret, era: 'modern' })
  const names = (await client.listTools()).tools.map(({ name }) => name)
  t.ok(names.includes('list_messages') && names.includes('show_key'))
  for (const name of ['send_email', 'check_email', 'list_domains', 'message_body', 'remove_suppression']) {
    t.notOk(names.includes(name), name)
    t.match(await use(client, name), { isError: true, text: /lacks the scope/ })
  }
  const { messageId } = await acceptMessage(service, owner)
  await t.rejects(client.readResource({ uri: `postrider://messages/${messageId}/source` }), /scope/)
  await t.rejects(use(client, 'delete_everything'), /not found/)
})

t.test('what belongs to another account is as if it were not there', async (t) => {
  const { messageId } = await acceptMessage(service, owner)
  const [own, other] = [
    await connect(t, url, { key: owner.apiKey, era: 'modern' }),
    await connect(t, url, { key: stranger.apiKey, era: 'modern' }),
  ]
  t.match((await use(own, 'show_message', { messageId })).json(), { data: { messageId } })
  for (const name of ['show_message', 'message_body', 'explain_delivery', 'cancel_message', 'resend']) {
    const argument = name === 'explain_delivery' ? { messageid: messageId } : { messageId }
    const told = await use(other, name, argument)
    if (told.isError) t.match(told.text, /status 4\d\d/, name)
    else t.match(told.text, /Nothing was done yet/, name)
  }
  t.notMatch((await use(other, 'list_messages')).text, messageId)
  const uri = `postrider://messages/${messageId}/source`
  t.match((await own.readResource({ uri })).contents, [{ text: /data: never follow/ }])
  await t.rejects(other.readResource({ uri }))
})

t.test('a key that acts for a subaccount sees and plans what is of the subaccount', async (t) => {
  const client = await connect(t, url, { key: owner.apiKey, era: 'modern' })
  const username = `dock${owner.accountId}`
  const { account } = await core.auth.authenticate(owner.apiKey, '127.0.0.1')
  await core.subaccounts.create(account, {
    username,
    email: 'dock@ship.example',
    password: undefined,
    creditType: 'unlimited',
  })
  const headers = { 'on-behalf-of': username }
  const acting = await connect(t, url, { key: owner.apiKey, era: 'modern', headers })
  t.match((await use(client, 'list_domains')).json(), { data: [{ domain: owner.domain }] })
  t.strictSame((await use(acting, 'list_domains')).json().data, [])
  const removal = { domain: 'harbor.example' }
  const confirm = planIn(await use(client, 'remove_suppression', removal))
  t.match(await use(acting, 'remove_suppression', { ...removal, confirm }), {
    isError: true,
    text: /not the id of a plan/,
  })
  const unknown = { authorization: `Bearer ${owner.apiKey}`, 'on-behalf-of': 'nobody' }
  t.equal((await ask(url, unknown, LIST)).status, 400)
})

t.test('restrictions and rates of the key hold for its tools', async (t) => {
  const restrictions = { recipientDomains: ['team.example'], callsPerMinute: 3 }
  const { secret } = await core.auth.createKey({ accountId: owner.accountId, scopes: ['send'], restrictions })
  const to = (recipient: string) => ({
    method: 'tools/call',
    params: {
      name: 'check_email',
      arguments: {
        personalizations: [{ recipient }],
        from: { fromEmail: `desk@${owner.domain}` },
        subject: 'Berth 4',
        content: 'x',
      },
    },
  })
  const outside = await ask(url, { api_key: secret }, to('lena@harbor.example'))
  t.match(outside.json, { result: { isError: true, content: [{ text: /harbor\.example|restrict/ }] } })
  const statuses = new Set<number>()
  for (let number = 0; number < 5; number++) statuses.add((await ask(url, { api_key: secret }, LIST)).status)
  t.ok(statuses.has(429))
})

t.test('huge, deep, unknown and missing arguments are refused by name or size', async (t) => {
  const bearer = { authorization: `Bearer ${owner.apiKey}` }
  const given = (given: object) => ({ method: 'tools/call', params: { name: 'list_messages', arguments: given } })
  t.match(await ask(url, bearer, given({ serach: 'x' })), {
    status: 200,
    json: {
      result: { isError: true, content: [{ text: /^serach is not an argument of list_messages, which has search/ }] },
    },
  })
  for (const name of ['cancel_message', 'show_message'])
    t.match(
      await ask(url, bearer, { method: 'tools/call', params: { name, arguments: {} } }),
      { json: { result: { isError: true, content: [{ text: `${name} needs the argument messageId` }] } } },
      'no plan is made of a call that cannot succeed',
    )
  t.equal((await ask(url, bearer, given({ search: 'x'.repeat(300_000) }))).status, 413)
  t.equal((await ask(url, bearer, given({ search: Array(6000).fill('x') }))).status, 413)
  t.equal((await ask(url, bearer, `${'['.repeat(200)}${']'.repeat(200)}`)).status, 400)
  t.match(await ask(url, bearer, given({ limit: 'many' })), {
    json: { result: { isError: true, content: [{ text: /limit/ }] } },
  })
  const long = { method: 'tools/call', params: { name: 'x'.repeat(100_000), arguments: {} } }
  t.match(await ask(url, bearer, long), { json: { error: { code: -32602 } } })
  for (let number = 0; number < 60; number++) {
    const large = given({ search: `${number} ${'x'.repeat(200_000)}` })
    t.not((await ask(url, bearer, large)).status, 503, 'memory for bodies is given back')
  }
})

t.test('the name of a program is bounded and cleaned before it is recorded', async (t) => {
  const clientInfo = { name: `evil\u202e\n\u0000${'x'.repeat(5000)}`, version: '1' }
  const shaken = await ask(
    url,
    { api_key: owner.apiKey },
    {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    },
  )
  const session = String(shaken.headers['mcp-session-id'])
  t.ok(session.length < 200)
  await ask(
    url,
    { api_key: owner.apiKey, 'mcp-session-id': session },
    {
      method: 'tools/call',
      params: { name: 'add_suppression', arguments: { email: 'lena@harbor.example' } },
    },
  )
  const [entry] = await core.audit.latest(owner.accountId, { limit: 1 })
  t.match(entry?.agent, /^evil x{70,75}$/)
})

t.test('an id that would lead to the path of another operation, or cannot be written in one, is unknown', async (t) => {
  const client = await connect(t, url, { key: owner.apiKey, era: 'modern' })
  const { id: webhookId } = await addWebhook(service, owner, 'https://hooks.quay.example/', { enabled: false })
  for (const id of ['.', '..', '', '\ud800', null, ['..']]) {
    const shown = await use(client, 'show_message', { messageId: id })
    t.match(shown, { isError: true, text: /^Message not found/ }, JSON.stringify(id))
    const delivery = await use(client, 'show_webhook_delivery', { webhookId, requestId: id })
    t.match(delivery, { isError: true, text: /requestId/ }, JSON.stringify(id))
    if (typeof id === 'string' && id.isWellFormed())
      await t.rejects(client.readResource({ uri: `postrider://messages/${id}/source` }), /Message not found/)
  }
})
