import { createRequestSigner, pause, type RequestSigner, WEBHOOK_FORMATS } from '@postrider/core'
import { type Call, type Command, CommandError, textOption, UsageError } from '../../command.ts'
import { printable } from '../../table.ts'
import { apiKeyOf } from '../api-key.ts'
import { serverOf, textOf, webUrl } from '../web-service.ts'

/** Seconds that the service waits for an event, and milliseconds until a response that takes longer is given up. */
const WAIT_SECONDS = 25
const READ_MS = 60_000
/** Milliseconds that the local program has for its response, as long as a webhook's. */
const FORWARD_MS = 10_000
/** Milliseconds between tries while the service cannot be reached. */
const RETRY_MS = 2000

type Format = (typeof WEBHOOK_FORMATS)[number]

interface Listening {
  readonly server: string
  readonly key: string
  readonly target: string
  readonly format: Format
  readonly events: string | undefined
  readonly signal: AbortSignal
}

/** Forwards what a webhook would get to a program on this machine, without a public URL. */
export const webhookListenCommands: readonly Command[] = [
  {
    name: 'webhook listen',
    usage: '--forward-to URL [--server URL] [--key KEY|-] [--events NAMES] [--format v2|v3]',
    summary: 'Send what a webhook would get to a program on this machine, without a public URL',
    detail:
      'It needs no database: it asks the Web API of a service with a key that has the scope webhooks. It sends what happens from now on, until it is stopped',
    parameters: {
      'forward-to': 'URL of the program, for example http://localhost:3000/hook',
      server: 'Address of the service (default: that of this machine)',
      key: 'API key (default: POSTRIDER_API_KEY); "-" reads it from stdin',
      events: 'Names of events, separated by commas (default: all of recipients)',
      format: 'Format of the requests (default v2)',
    },
    examples: ['webhook listen --forward-to http://localhost:3000/hook --events sent,bounced'],
    run: async (call) => {
      const ended = new AbortController()
      const listening = { ...(await givenOf(call)), signal: ended.signal }
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
      process.stdout.once('error', () => ended.abort())
      await listen(listening)
      return undefined
    },
  },
]

/** Throws {@link UsageError}. */
async function givenOf(call: Call): Promise<Omit<Listening, 'signal'>> {
  const target = webUrl('forward-to', textOption(call, 'forward-to') ?? '')
  const server = serverOf(call)
  const key = await apiKeyOf(call, 'POSTRIDER_API_KEY')
  const format = textOption(call, 'format') ?? 'v2'
  const known = WEBHOOK_FORMATS.find((one) => one === format)
  if (!known) throw new UsageError(`--format must be v2 or v3 (got "${format}")`)
  return { server, key, target, format: known, events: textOption(call, 'events') }
}

async function listen(listening: Listening): Promise<void> {
  const { target, format, signal } = listening
  const signer = createRequestSigner()
  let after: number | undefined
  for (let number = 1; !signal.aborted; ) {
    const read = await readNext(listening, after)
    if (read === undefined) {
      if (!signal.aborted) await pause(RETRY_MS)
      continue
    }
    if (after === undefined) say(introduction(listening, signer))
    after = read.next
    if (read.body !== null)
      say(await forward({ target, format, body: read.body, id: `listen_${number++}`, signer, signal }))
  }
}

function introduction({ target, format }: Listening, { secret, publicKey }: RequestSigner): string {
  const key = format === 'v3' ? `\npublic key ${publicKey}` : ''
  return `secret ${secret}${key}\nforwarding events to ${target}; Ctrl-C stops`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Undefined if the service could not be reached, which is tried again. Throws {@link CommandError} if it refuses the call. */
async function readNext(
  { server, key, events, format, signal }: Listening,
  after: number | undefined,
): Promise<{ readonly body: string | null; readonly next: number } | undefined> {
  const query = new URLSearchParams({ format, eventIds: '1', ...(events === undefined ? {} : { events }) })
  if (after !== undefined) {
    query.set('after', String(after))
    query.set('wait', String(WAIT_SECONDS))
  }
  let status: number
  let answer: { data?: { body?: unknown }; next?: unknown; error_info?: { error_message?: unknown } | null }
  try {
    const response = await fetch(`${server}/v2/webhooks/listen?${query}`, {
      headers: { api_key: key, accept: 'application/json', 'user-agent': 'Postrider' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]),
    })
    status = response.status
    answer = JSON.parse(await textOf(response)) as typeof answer
  } catch (error) {
    if (signal.aborted) return undefined
    if (error instanceof SyntaxError)
      throw new CommandError(`${server} does not respond as a Postrider service; check --server`)
    process.stderr.write(`postrider: ${server} cannot be reached, will retry\n`)
    return undefined
  }
  if (status === 503) return undefined
  const { data, next, error_info: problem } = answer
  if (status !== 200 || typeof next !== 'number')
    throw new CommandError(
      `${server} refused the call (${status}): ${printable(String(problem?.error_message ?? 'no reason given')).slice(0, 500)}`,
    )
  return { body: typeof data?.body === 'string' ? data.body : null, next }
}

/** Sends one request, and returns the line about it. A failure is shown, and not tried again. */
async function forward(request: {
  readonly target: string
  readonly format: Format
  readonly body: string
  readonly id: string
  readonly signer: RequestSigner
  readonly signal: AbortSignal
}): Promise<string> {
  const { target, format, body, id, signer, signal } = request
  const began = performance.now()
  const outcome = await fetch(target, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'user-agent': 'Postrider', ...signer.headers({ id, body, format }) },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_MS)]),
  }).then(
    async (response) => {
      await response.body?.cancel()
      return String(response.status)
    },
    () => 'no response',
  )
  const time = new Date().toISOString()
  return `${time}  ${namesIn(body)}  ${outcome}  ${Math.round(performance.now() - began)} ms`
}

/** "sent 2, bounced": the names of the events in a body, with their numbers. */
function namesIn(body: string): string {
  const counts = new Map<string, number>()
  for (const [, name = ''] of body.matchAll(/"(?:EVENT|event)":"([\w.]{1,40})"/g))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} ${count}`)).join(', ')
}
