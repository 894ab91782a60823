import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A request a webhook made. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** To the octet. */
  readonly body: string
  /** When it was there, in milliseconds. */
  readonly at: number
}

export type Reaction = (request: Received, response: ServerResponse, raw: IncomingMessage) => unknown

export interface Receiver {
  readonly url: string
  readonly port: number
  /** In the order they came. */
  readonly requests: Received[]
  /** Requests with events in them, so no probes. */
  batches(): Received[]
  /** What it does from now on; at first it answers 200. */
  react: Reaction
  close(): Promise<void>
}

/** A webhook's receiver on loopback. */
export async function startReceiver(
  t: Pick<Test, 'teardown'>,
  react?: Reaction,
  host = '127.0.0.1',
  port = 0,
): Promise<Receiver> {
  const requests: Received[] = []
  const server = createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const { method = '', url = '', headers } = request
    const received = { method, path: url, headers, body: Buffer.concat(chunks).toString(), at: Date.now() }
    requests.push(received)
    await receiver.react(received, response, request)
  })
  await listen(server, host, port)
  const { port: own } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://${host}:${own}/hook`,
    port: own,
    requests,
    batches: () => requests.filter(({ method, body }) => method === 'POST' && !body.startsWith('[]')),
    react: react ?? ((_request, response) => response.end('ok')),
    close: () => close(server),
  }
  t.teardown(() => close(server))
  return receiver
}

export const answer =
  (status: number, headers: Record<string, string> = {}): Reaction =>
  (_request, response) =>
    response.writeHead(status, headers).end()

/** The URL answers when it is saved, and reacts like this afterwards. */
export const onBatches =
  (react: Reaction): Reaction =>
  (request, response, raw) =>
    request.method === 'HEAD' || request.body === '[]' ? response.end() : react(request, response, raw)

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve) => server.listen(port, host, resolve))
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
