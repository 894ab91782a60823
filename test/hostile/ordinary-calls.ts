import { Agent, request } from 'node:http'
import type { Test } from 'tap'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { arrivals } from './open-host.ts'
import type { SecondClientData } from './second-client.ts'
import type { Ask } from './second-client-thread.ts'

/** Where mail of the ordinary client goes in the worker's rows. */
export const ORDINARY_HOST = '127.0.0.2'
export const ORDINARY_DOMAIN = 'harbor.example'

const T = { teardown() {} } as unknown as Test
const PATIENCE_MS = 20_000

/** A small mail and a look at the health, in turn, over one connection. */
export async function askApi({ ports, apiKey, domain }: SecondClientData): Promise<Ask> {
  const send = sender(ports.api, apiKey, domain)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let asked = 0
  return async () => {
    if (asked++ % 2 === 0) return send('lena')
    return get(agent, ports.api, '/health/live')
  }
}

/** A NOOP, and each tenth time a whole small mail, in one session; a new one where it was ended. */
export async function askRelay({ ports, apiKey, domain }: SecondClientData): Promise<Ask> {
  const open = async (): Promise<SmtpClient> => {
    const client = await SmtpClient.connect(T, { port: ports.relayTls, tls: true })
    await client.reply()
    await client.logIn(apiKey)
    return client
  }
  let client: SmtpClient | undefined = await open()
  let asked = 0
  return async () => {
    try {
      client ??= await open()
      const reply =
        asked++ % 10 === 0
          ? await client.submit(`desk@${domain}`, `lena@${ORDINARY_DOMAIN}`, mail(domain))
          : await client.command('NOOP')
      return reply.startsWith('250') ? undefined : reply
    } catch (error) {
      client?.destroy()
      client = undefined
      throw error
    }
  }
}

/** From the API's answer until the message stands at its recipient's server. */
export async function askWorker({ ports, apiKey, domain }: SecondClientData): Promise<Ask> {
  const arrived = await arrivals(ORDINARY_HOST, ports.mx)
  const send = sender(ports.api, apiKey, domain)
  let asked = 0
  return async () => {
    const name = `r${++asked}-${process.pid}`
    const there = arrived.of(`${name}@${ORDINARY_DOMAIN}`, PATIENCE_MS)
    return (await send(name)) ?? ((await there) ? undefined : 'did not arrive')
  }
}

export async function askSandbox({ ports }: SecondClientData): Promise<Ask> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return () => get(agent, ports.sandboxHttp, '/messages/none')
}

function sender(port: number, apiKey: string, domain: string): (name: string) => Promise<string | undefined> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (name) => {
    const body = JSON.stringify({
      personalizations: [{ recipient: `${name}@${ORDINARY_DOMAIN}` }],
      from: { fromEmail: `desk@${domain}`, fromName: 'Ship Desk' },
      subject: 'Berth 4',
      content: '<p>Your berth is ready.</p>',
    })
    const headers = { api_key: apiKey, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    return ask({ agent, port, method: 'POST', path: '/v2/sendEmail', headers }, body)
  }
}

function get(agent: Agent, port: number, path: string): Promise<string | undefined> {
  return ask({ agent, port, method: 'GET', path, headers: {} })
}

type Options = { agent: Agent; port: number; method: string; path: string; headers: Record<string, string | number> }

function ask(options: Options, body?: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', ...options, timeout: 60_000 }, (response) => {
      response.resume()
      response.once('end', () =>
        resolve(response.statusCode === 200 || response.statusCode === 404 ? undefined : String(response.statusCode)),
      )
    })
    call.once('error', reject)
    call.end(body)
  })
}

function mail(domain: string): string {
  return `From: Ship Desk <desk@${domain}>\r\nTo: lena@${ORDINARY_DOMAIN}\r\nSubject: Berth 4\r\n\r\nYour berth is ready.\r\n`
}
