import { createMCPClient } from '@ai-sdk/mcp'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, connect, PROGRAM, use } from './clients.ts'

const service = await makeService(t, { MCP: 'on' })
const url = await service.openApi()
const sender = await service.makeSender()
const key = sender.apiKey

for (const era of ['modern', 'legacy'] as const) {
  t.test(`a client of the protocol (${era}) lists the tools and calls one`, async (t) => {
    const client = await connect(t, url, { key, era })
    t.equal(client.getServerVersion()?.name, 'postrider')
    const { tools } = await client.listTools()
    t.ok(tools.length >= 24 && tools.length <= 40, `${tools.length} tools`)
    const list = tools.find(({ name }) => name === 'list_domains')
    t.match(list?.annotations, { readOnlyHint: true, destructiveHint: false })
    const send = tools.find(({ name }) => name === 'send_email')
    t.match(send?.annotations, { readOnlyHint: false, destructiveHint: true })
    const domains = await use(client, 'list_domains')
    t.match(domains.json(), { data: [{ domain: sender.domain }] })
  })
}

t.test('a client of another library does the same, with the header api_key', async (t) => {
  const client = await createMCPClient({
    transport: { type: 'http', url: `${url}/mcp`, headers: { api_key: key } },
    clientName: PROGRAM.name,
  })
  t.teardown(() => client.close())
  const tools = await client.tools()
  t.ok(tools.list_messages)
  const context = { toolCallId: '1', messages: [] }
  const answer = await tools.show_key?.execute?.({}, context as never)
  t.match(JSON.stringify(answer), /scopes/)
})

t.test('every tool has a name and a schema that clients of all vendors take', async (t) => {
  const client = await connect(t, url, { key, era: 'modern' })
  const { tools } = await client.listTools()
  for (const { name, description = '', inputSchema } of tools) {
    t.match(name, /^[a-z0-9_]{1,64}$/)
    t.ok(description.length > 20 && description.length <= 1024, `${name}: ${description.length} characters`)
    t.match(inputSchema, { type: 'object', properties: Object, additionalProperties: false })
    t.notMatch(JSON.stringify(inputSchema), /"(?:anyOf|oneOf|allOf|\$ref|\$defs|pattern)"/, name)
    for (const parameter of Object.keys(inputSchema.properties ?? {})) t.match(parameter, /^[\w.-]{1,64}$/)
  }
  t.ok(JSON.stringify(tools).length < 40_000, `${JSON.stringify(tools).length} characters for a model to read`)
})

t.test('guides and a message without its attachments are resources', async (t) => {
  const client = await connect(t, url, { key, era: 'modern' })
  const { resources } = await client.listResources()
  t.ok(resources.some(({ uri }) => uri === 'postrider://guides/sending'))
  const guide = await client.readResource({ uri: 'postrider://guides/sending' })
  t.match(guide.contents, [{ mimeType: 'text/markdown', text: /^# / }])
  const { resourceTemplates } = await client.listResourceTemplates()
  t.match(resourceTemplates, [{ uriTemplate: 'postrider://messages/{messageId}/source' }])
  for (const uri of ['postrider://guides/nothing', 'postrider://messages/1/source', 'file:///etc/passwd'])
    await t.rejects(client.readResource({ uri }), uri)
})

t.test('no session is kept: a call without a handshake is answered, streams and batches are refused', async (t) => {
  const bearer = { authorization: `Bearer ${key}` }
  t.match(await ask(url, bearer, { method: 'tools/list' }), { status: 200, json: { result: { tools: Array } } })
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(`${url}/mcp`, { method, headers: bearer })
    t.match([response.status, response.headers.get('allow')], [405, 'POST'])
  }
  t.match(await ask(url, bearer, '[]'), { status: 400, json: { error: { code: -32600 } } })
  t.match(await ask(url, bearer, '{"jsonrpc":'), { status: 400, json: { error: { code: -32700 } } })
  const text = await ask(url, { ...bearer, 'content-type': 'text/plain' }, { method: 'tools/list' })
  t.equal(text.status, 415)
  const modern = { ...bearer, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const listening = await ask(url, modern, {
    method: 'subscriptions/listen',
    params: { _meta: meta, notifications: {} },
  })
  t.match(listening.json, { error: { message: /limit/ } }, 'nothing can be listened to')
})

t.test('without the setting there is no /mcp', async (t) => {
  const other = await makeService(t)
  const closed = await other.openApi()
  const { apiKey } = await other.makeSender()
  t.equal((await ask(closed, { api_key: apiKey }, { method: 'tools/list' })).status, 404)
})
