import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { freePort } from './processes.ts'

/** A receiver of webhooks, in this process. */
export interface Receiver {
  readonly url: string
  /** Events taken so far. */
  count(): number
  /** Requests begun since it does not answer. */
  unanswered(): number
  /** From now on it accepts connections and requests, and never answers. */
  silence(): void
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  let [events, unanswered, isSilent] = [0, 0, false]
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    if (isSilent) {
      unanswered++
      request.resume()
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (chunks.length > 0) events += (JSON.parse(Buffer.concat(chunks).toString()) as unknown[]).length
      response.end()
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}/events`,
    count: () => events,
    unanswered: () => unanswered,
    silence() {
      isSilent = true
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Creates a webhook of the account for all events that have a recipient; returns what removes it. The API and the worker need WEBHOOK_SETTINGS. */
export async function addWebhook(apiUrl: string, apiKey: string, url: string): Promise<() => Promise<void>> {
  const headers = { api_key: apiKey, 'content-type': 'application/json' }
  const ask = async (method: string, path: string, body?: object): Promise<{ data: { webhookId: number } }> => {
    const init = body ? { method, headers, body: JSON.stringify(body) } : { method, headers: { api_key: apiKey } }
    const response = await fetch(`${apiUrl}/v2/webhooks${path}`, init)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${method} /v2/webhooks${path}: ${response.status} ${text}`)
    return JSON.parse(text) as { data: { webhookId: number } }
  }
  const { data } = await ask('POST', '', { url, events: 'all' })
  return async () => void (await ask('DELETE', `/${data.webhookId}`))
}

/** A receiver on loopback is an internal host. */
export const WEBHOOK_SETTINGS = { WEBHOOK_PRIVATE_NETWORKS: 'allow' } as const
