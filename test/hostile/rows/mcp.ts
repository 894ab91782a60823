import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'

/** A call of protocol 2026-07-28. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}
const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' }

interface Given {
  readonly name?: string
  readonly arguments?: unknown
  readonly inputResponses?: unknown
  readonly meta?: object
}

async function use(stage: Stage, { name = 'list_messages', meta, ...params }: Given): Promise<string> {
  const call = { method: 'tools/call', params: { name, ...params, _meta: { ...META, ...meta } } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
  return stage.call('/mcp', { headers: { ...HEADERS, 'mcp-method': 'tools/call', 'mcp-name': name }, body })
}

/** Values that a call has beside these. */
const OTHERS = 40
const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))
const named = (count: number, value: unknown) => Object.fromEntries(many(count, (at) => [`a${at}`, value]))

/** The most that a call of the tools for agents may have: 256 kB, 5,000 values. */
export const MCP = rowsOf(
  'api',
  {
    'a tool with 4,900 arguments': (stage) => use(stage, { arguments: named(5000 - 2 * OTHERS, 'x') }),
    'a tool with an argument of 250 kB': (stage) => use(stage, { arguments: { search: 'x '.repeat(125_000) } }),
    'a message to 1,200 recipients that is checked and planned': (stage) =>
      use(stage, {
        name: 'send_email',
        arguments: {
          personalizations: many(1200, (at) => ({ recipient: `r${at}@harbor.example` })),
          from: { fromEmail: `desk@${stage.sender.domain}` },
          subject: 'Berth 4',
          content: `<p>${'x'.repeat(100_000)}</p>`,
        },
      }),
    'a plan of 4,800 nested values': (stage) =>
      use(stage, { name: 'remove_suppression', arguments: { email: many(80, () => many(58, () => 'x')) } }),
    'answers to 1,200 questions that were not asked': (stage) =>
      use(stage, { inputResponses: named(1200, { action: 'accept', content: {} }) }),
    'a call with 4,900 members that describe it': (stage) => use(stage, { meta: named(5000 - 2 * OTHERS, 'x') }),
  },
  ['a message to 1,200 recipients that is checked and planned'],
)
