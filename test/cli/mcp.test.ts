import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { PROGRAM, planIn, use } from '../api/mcp/clients.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { postrider } from './postrider.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const service = await makeService(t, { MCP: 'on' })
const url = await service.openApi()
const sender = await service.makeSender()
const ARGS = ['packages/cli/src/postrider.ts', 'mcp', '--server']

for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
  const name = typeof mode === 'string' ? mode : mode.pin
  t.test(`a program that starts the command uses the tools of the service (${name})`, async (t) => {
    const client = new Client(PROGRAM, { versionNegotiation: { mode } })
    const env = { ...BARE_ENVIRONMENT, POSTRIDER_API_KEY: sender.apiKey }
    const transport = new StdioClientTransport({ command: process.execPath, args: [...ARGS, url], cwd: ROOT, env })
    await client.connect(transport)
    t.teardown(() => client.close())
    const { tools } = await client.listTools()
    t.ok(tools.some(({ name }) => name === 'send_email'))
    t.match((await use(client, 'list_domains')).json(), { data: [{ domain: sender.domain }] })
    const answers = await Promise.all(Array.from({ length: 40 }, () => use(client, 'show_key')))
    t.equal(answers.filter(({ isError }) => !isError).length, 40, 'many calls at once')
    const removal = { email: `${name}@harbor.example` }
    await use(client, 'add_suppression', removal)
    const confirm = planIn(await use(client, 'remove_suppression', removal))
    t.notOk((await use(client, 'remove_suppression', { ...removal, confirm })).isError)
    const [entry] = await service.core.audit.latest(sender.accountId, { limit: 1 })
    t.match(entry, { agent: 'harbor-agent 1.4.0' })
    const { stdout } = await postrider(service.env, 'audit', 'list', '--account', String(sender.accountId))
    t.match(stdout, /key \d+, agent harbor-agent 1\.4\.0/)
    const { contents } = await client.readResource({ uri: 'postrider://guides/keys' })
    t.match(contents, [{ mimeType: 'text/markdown' }])
  })
}

t.test('what goes wrong is the answer of the call that it belongs to', async (t) => {
  const ask = { jsonrpc: '2.0', id: 'a', method: 'tools/list' }
  t.match(await answersOf({ POSTRIDER_API_KEY: 'pr_wrong' }, url, [ask]), [
    { id: 'a', error: { message: 'Invalid api_key' } },
  ])
  t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, 'http://127.0.0.1:1', [ask]), [
    { id: 'a', error: { message: /cannot be reached/ } },
  ])
  const closed = await (await makeService(t)).openApi()
  t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, closed, [ask]), [
    { id: 'a', error: { message: /setting MCP/ } },
  ])
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
  t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, url, ['nonsense', notification, ask]), [
    { id: null, error: { code: -32700 } },
    { id: 'a', result: { tools: Array } },
  ])
  const line = {
    ...ask,
    method: 'tools/call',
    params: { name: 'show_message', arguments: { messageId: 'a\u2028b\u2029c' } },
  }
  t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, url, [line]), [
    { id: 'a', result: { content: [{ text: /^Message not found/ }] } },
  ])
  for (const odd of ['null', '7', [ask]])
    t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, url, [odd]), [{ id: null, error: { code: -32600 } }])
  t.match(await answersOf({ POSTRIDER_API_KEY: sender.apiKey }, url, [{ ...ask, method: 'straße €' }]), [
    { id: 'a', error: { code: -32601 } },
  ])
})

t.test('without a key, or with one from standard input, it does not start', async (t) => {
  t.match(await postrider({}, 'mcp', '--server', url), { code: 2, stderr: /missing option --key/ })
  t.match(await postrider({}, 'mcp', '--server', url, '--key', '-'), { code: 2, stderr: /standard input/ })
})

/** The lines that the command answers to these, until its input ends. */
async function answersOf(env: Record<string, string>, server: string, lines: readonly unknown[]): Promise<unknown[]> {
  const child = spawn(process.execPath, [...ARGS, server], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const answers: unknown[] = []
  createInterface({ input: child.stdout }).on('line', (line) => answers.push(JSON.parse(line)))
  child.stdin.end(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  await ended
  return answers
}
