import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createCore, createLog } from '@postrider/core'
import type { Test } from 'tap'
import type { TestService } from '../../helpers/service.ts'
import { call } from '../call.ts'

/** The program of the tests, as it names itself. */
export const PROGRAM = { name: 'harbor-agent', version: '1.4.0' } as const

interface Options {
  readonly key: string
  /** Of protocol 2026-07-28, in which each call stands for itself, or of those before it. */
  readonly era: 'modern' | 'legacy'
  /** What its user answers when asked; without it, the client cannot ask. */
  readonly user?: (message: string) => ElicitResult
  readonly headers?: Readonly<Record<string, string>>
}

/** The client of the protocol's own library, connected. */
export async function connect(t: Test, url: string, { key, era, user, headers }: Options): Promise<Client> {
  const client = new Client(PROGRAM, {
    capabilities: user ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
  })
  if (user) client.setRequestHandler('elicitation/create', ({ params }) => user(params.message))
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
  })
  await client.connect(transport)
  t.teardown(() => client.close())
  return client
}

type Given = Readonly<Record<string, unknown>>

export interface Told {
  readonly isError: boolean
  /** All of its texts. */
  readonly text: string
  /** The JSON of the last one. */
  readonly json: () => Record<string, unknown>
}

/** Calls a tool. */
export async function use(client: Client, name: string, given: Given = {}): Promise<Told> {
  const { content, isError = false } = await client.callTool({ name, arguments: given })
  const texts = content.map((block) => (block.type === 'text' ? block.text : block.type))
  return { isError, text: texts.join('\n'), json: () => JSON.parse(texts.at(-1) ?? '') }
}

/** The id of the plan that a call without confirmation returned. */
export function planIn({ text }: Told): string {
  return /confirm: "([\w-]+)"/.exec(text)?.[1] ?? ''
}

/** One call of the older protocol, as any program could send it. */
export function ask(url: string, headers: Readonly<Record<string, string>>, body: Given | string) {
  return call(url, {
    path: '/mcp',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  })
}

/** Opens the API once more, as another process with its own memory would; returns its URL. */
export async function openOther(t: Test, { sql, config }: TestService): Promise<string> {
  const { buildApp } = await import('@postrider/api')
  const log = createLog('test', 'silent')
  const core = createCore({ sql, config, log })
  await core.readiness.check()
  const app = await buildApp({ core, config, log })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    core.readiness.close()
  })
  return url
}
