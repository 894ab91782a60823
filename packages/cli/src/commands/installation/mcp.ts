import { type Call, type Command, textOption, UsageError } from '../../command.ts'
import { apiKeyOf } from '../api-key.ts'
import { serverOf, textOf } from '../web-service.ts'

/** Milliseconds until a call without a response is given up. */
const CALL_MS = 60_000
/** Calls that wait for their responses at the same time. */
const MAX_CALLS = 16
/** Codes of JSON-RPC. */
const SERVER_ERROR = -32000
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
/** The methods whose calls name something, which a header of the protocol repeats. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
  'prompts/get': 'name',
}

/** The part of a message that its headers depend on. */
interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** The response of a service. */
interface Reply {
  readonly jsonrpc?: string
  readonly result?: { readonly protocolVersion?: string }
  readonly error?: { readonly code: number; readonly message: string }
}

export const mcpCommands: readonly Command[] = [
  {
    name: 'mcp',
    usage: '[--server URL] [--key KEY]',
    summary: 'Connect a program of an agent to /mcp of a service, over standard input and output',
    detail:
      'For programs that start the servers of their tools themselves. It needs no database. The service needs the setting MCP=on',
    parameters: {
      server: 'Address of the service (default: that of this machine)',
      key: 'API key (default: POSTRIDER_API_KEY)',
    },
    examples: ['mcp --server https://mail.ship.example'],
    run: async (call) => {
      await bridge(await connectionOf(call))
      return undefined
    },
  },
]

interface Connection {
  readonly server: string
  readonly key: string
}

/** Throws {@link UsageError}. */
async function connectionOf(call: Call): Promise<Connection> {
  if (textOption(call, 'key') === '-')
    throw new UsageError('--key cannot be "-": standard input has the messages of the program')
  return { server: serverOf(call), key: await apiKeyOf(call, 'POSTRIDER_API_KEY') }
}

/** Passes each line of standard input on as a call, and its response back as a line, until the input ends. */
async function bridge(connection: Connection): Promise<void> {
  const known: Known = {}
  const underWay = new Set<Promise<void>>()
  process.stdout.once('error', () => process.exit(0))
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue
    const done = pass(connection, known, line).then((answer) => {
      if (answer !== undefined) process.stdout.write(`${answer}\n`)
      underWay.delete(done)
    })
    underWay.add(done)
    if (underWay.size >= MAX_CALLS) await Promise.race(underWay)
  }
  await Promise.all(underWay)
}

/** Only LF ends a line: readline also splits at U+2028 and U+2029, which texts in JSON may contain. */
async function* linesOf(input: NodeJS.ReadStream): AsyncGenerator<string> {
  let begun = ''
  for await (const chunk of input.setEncoding('utf8')) {
    const [first = '', ...others] = String(chunk).split('\n')
    begun += first
    for (const next of others) {
      yield begun
      begun = next
    }
  }
  yield begun
}

/** The results of the handshake of the older protocol, which later calls repeat. */
interface Known {
  session?: string | undefined
  version?: string | undefined
}

/** Returns the line of the response; undefined if there is none. */
async function pass({ server, key }: Connection, known: Known, line: string): Promise<string | undefined> {
  let message: Message
  try {
    message = JSON.parse(line) as Message
  } catch {
    return errorLine(null, PARSE_ERROR, 'the line is not JSON')
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return errorLine(null, INVALID_REQUEST, 'each line must be one message; batches are not part of the protocol')
  const { id, method } = message
  // An answer to a call of the server, which makes none.
  if (method === undefined) return undefined
  const failed = (problem: string) => (id === undefined ? undefined : errorLine(id, SERVER_ERROR, problem))
  let response: Response
  let text: string
  try {
    response = await fetch(`${server}/mcp`, {
      method: 'POST',
      headers: { ...headersOf(message, known), authorization: `Bearer ${key}` },
      body: line,
      redirect: 'manual',
      signal: AbortSignal.timeout(CALL_MS),
    })
    text = await textOf(response)
  } catch {
    return failed(`${server} cannot be reached`)
  }
  if (response.status === 202) return undefined
  const reply = replyIn(text)
  if (!reply) return failed(problemOf(server, response.status))
  known.session = response.headers.get('mcp-session-id') ?? known.session
  if (method === 'initialize') known.version = reply.result?.protocolVersion
  // A call that reached no tool is refused without its id.
  if (id === undefined) return undefined
  if (!response.ok && reply.error) return errorLine(id, reply.error.code, reply.error.message)
  return text.replaceAll(/[\r\n]/g, ' ')
}

function headersOf({ method = '', params }: Message, { session, version }: Known): Record<string, string> {
  const meta = params?._meta as Readonly<Record<string, unknown>> | undefined
  const own = meta?.['io.modelcontextprotocol/protocolVersion']
  const used = typeof own === 'string' ? own : method === 'initialize' ? undefined : version
  const name = params?.[NAMED[method] ?? '']
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'user-agent': 'Postrider',
    'mcp-method': inHeader(String(method)),
    ...(typeof name === 'string' ? { 'mcp-name': inHeader(name) } : {}),
    ...(used === undefined ? {} : { 'mcp-protocol-version': used }),
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  }
}

/** Names that a header cannot have are encoded as the protocol says. */
function inHeader(name: string): string {
  if (/^[\x20-\x7e]+$/.test(name) && name.trim() === name) return name
  return `=?base64?${Buffer.from(name).toString('base64')}?=`
}

function replyIn(text: string): Reply | undefined {
  try {
    const reply = JSON.parse(text) as Reply | null
    return reply?.jsonrpc === '2.0' ? reply : undefined
  } catch {
    return undefined
  }
}

function problemOf(server: string, status: number): string {
  if (status === 404) return `${server} has no /mcp: its setting MCP is not on`
  return `${server} does not respond as a Postrider service (status ${status}); check --server`
}

function errorLine(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}
