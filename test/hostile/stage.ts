import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { type CallOptions, call, JSON_TYPE } from '../api/call.ts'
import { startRawServer } from '../delivery/raw-server.ts'
import { type DnsServer, startDns } from '../helpers/dns.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { type Measured, startMeasured } from './measured.ts'
import { arrivals } from './open-host.ts'
import { ORDINARY_DOMAIN, ORDINARY_HOST } from './ordinary-calls.ts'
import type { Door } from './row.ts'
import { type SecondClient, startSecondClient } from './second-client.ts'

const OPEN_HOST = '127.0.0.3'
const OPEN_DOMAIN = 'open.example'
/** A host that plays what the row says. */
export const ODD_HOST = '127.0.0.4'

/** One door with whole processes behind it, the hostile account that knocks there, and an ordinary client beside it. */
export interface Stage {
  readonly service: TestService
  readonly sender: Sender
  readonly measured: Measured
  readonly second: SecondClient
  readonly dns: DnsServer
  /** Octets sent since this was set to 0. */
  octets: number
  /** What {@link ODD_HOST} does with a connection. */
  odd: (socket: Socket) => void
  /** Calls the API with the hostile account's key; answers status and error. */
  call(path: string, options?: Omit<CallOptions, 'path'>): Promise<string>
  v3(path: string, options?: Omit<CallOptions, 'path'>): Promise<string>
  /** POST /v2/sendEmail; what is given goes over the least a call needs. */
  send(extra: Readonly<Record<string, unknown>>): Promise<string>
  /** POST /v3/mail/send. */
  mail(extra: Readonly<Record<string, unknown>>): Promise<string>
  /** A TLS session with the relay, logged in unless told. */
  session(options?: { readonly logIn?: boolean }): Promise<SmtpClient>
  /** One message over the relay; answers the reply to its dot. */
  relay(message: string | Buffer, to?: readonly string[]): Promise<string>
  /** Waits until the deliveries of the message an answer names have been tried. */
  delivered(answer: string): Promise<string>
  close(): Promise<void>
}

export async function openStage(door: Door): Promise<Stage> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (act: () => unknown) => void teardowns.unshift(act) } as unknown as Test
  const close = async (): Promise<void> => {
    for (const act of teardowns.splice(0)) await act()
  }
  try {
    return await open(door, t, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function open(door: Door, t: Test, close: () => Promise<void>): Promise<Stage> {
  const [mx] = await freePorts(1)
  const zone = (host: string) => ({ mx: [[10, `mx.${host}.example`]] as const })
  const dns = await startDns(t, {
    [ORDINARY_DOMAIN]: zone('ordinary'),
    [OPEN_DOMAIN]: zone('open'),
    'mx.ordinary.example': { a: [ORDINARY_HOST] },
    'mx.open.example': { a: [OPEN_HOST] },
  })
  const outside = { DELIVERY: 'mx', MX_PORT: String(mx), DNS_SERVERS: dns.address, MX_PRIVATE_NETWORKS: 'allow' }
  const service = await makeService(t, {
    MCP: 'on',
    WEBHOOK_PRIVATE_NETWORKS: 'allow',
    CALLS_PER_MINUTE: '0',
    WRONG_KEYS_PER_MINUTE: '0',
    ...(door === 'worker' ? outside : {}),
  })
  const [hostile, ordinary] = [await service.makeSender({ tracking: true }), await service.makeSender()]
  const start = async (name: Parameters<typeof startMeasured>[0]): Promise<Measured> => {
    const measured = await startMeasured(name, service.env)
    t.teardown(() => measured.kill())
    return measured
  }
  const { apiPort, relayTlsPort, sandboxHttpPort } = service.config
  const measured = await start(door === 'worker' ? 'delivery' : door)
  const stage = stageOf({ service, sender: hostile, measured, dns, close, t })
  if (door === 'worker') {
    await Promise.all([start('api'), start('relay'), arrivals(OPEN_HOST, mx as number)])
    await startRawServer(t, { host: ODD_HOST, port: mx as number, keep: false }, (socket) => stage.odd(socket))
  }
  const ports = { api: apiPort, relayTls: relayTlsPort, mx: mx as number, sandboxHttp: sandboxHttpPort }
  const second = await startSecondClient({ door, ports, apiKey: ordinary.apiKey, domain: ordinary.domain })
  t.teardown(() => second.close())
  return Object.assign(stage, { second })
}

type Parts = Pick<Stage, 'service' | 'sender' | 'measured' | 'dns' | 'close'> & { t: Test }

function stageOf({ service, sender, measured, dns, close, t }: Parts): Omit<Stage, 'second'> {
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const stage: Omit<Stage, 'second'> = {
    service,
    sender,
    measured,
    dns,
    close,
    octets: 0,
    odd: () => {},
    async call(path, options = {}) {
      stage.octets += octetsOf(path, options)
      const headers = { api_key: sender.apiKey, ...JSON_TYPE, ...options.headers }
      return answerOf(call(base, { ...options, path, headers }))
    },
    v3: (path, options = {}) =>
      stage.call(`/v3${path}`, {
        ...options,
        headers: { authorization: `Bearer ${sender.apiKey}`, ...options.headers },
      }),
    send: (extra) => stage.call('/v2/sendEmail', { body: JSON.stringify({ ...least(sender), ...extra }) }),
    mail: (extra) => stage.v3('/mail/send', { body: JSON.stringify({ ...leastV3(sender), ...extra }) }),
    async session({ logIn = true } = {}) {
      const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
      await client.reply()
      if (logIn) await client.logIn(sender.apiKey)
      return client
    },
    async relay(message, to = [`lena@${OPEN_DOMAIN}`]) {
      const client = await stage.session()
      try {
        stage.octets += message.length
        return await client.submit(`desk@${sender.domain}`, to, message)
      } finally {
        client.destroy()
      }
    },
    async delivered(answer) {
      const id = /[0-9a-f]{32}/.exec(answer)?.[0]
      if (!id) return answer
      for (;;) {
        const story = await service.core.messages.show(id)
        const states = new Set(story?.deliveries.map(({ state }) => state))
        if (states.size > 0 && !['scheduled', 'queued', 'sending'].some((state) => states.has(state as never)))
          return [...states].join(', ')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
  return stage
}

export function least({ domain }: Sender): Record<string, unknown> {
  return {
    personalizations: [{ recipient: `lena@${OPEN_DOMAIN}` }],
    from: { fromEmail: `desk@${domain}`, fromName: 'Ship Desk' },
    subject: 'Berth 4',
    content: '<p>Your berth is ready.</p>',
  }
}

export function leastV3({ domain }: Sender): Record<string, unknown> {
  return {
    personalizations: [{ to: [{ email: `lena@${OPEN_DOMAIN}` }] }],
    from: { email: `desk@${domain}` },
    subject: 'Berth 4',
    content: [{ type: 'text/html', value: '<p>Your berth is ready.</p>' }],
  }
}

function octetsOf(path: string, { body, headers = {} }: Omit<CallOptions, 'path'>): number {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body ?? '')
  const fields = Object.entries(headers).flat(2).join('')
  return path.length + fields.length + Buffer.byteLength(text)
}

async function answerOf(called: ReturnType<typeof call>): Promise<string> {
  try {
    const { status, json } = await called
    const info = json?.error_info as { error_code?: number } | undefined
    const id = (json?.data as { message_id?: string } | undefined)?.message_id
    const complaint = (json?.errors as { message?: string }[] | undefined)?.[0]?.message
    return [status, info?.error_code ?? complaint?.slice(0, 60), id].filter((part) => part !== undefined).join(' ')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
