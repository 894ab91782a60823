import { createServer } from 'node:net'
import { createTransport } from 'nodemailer'
import type { Case } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { smtpSource, WARM_UP } from '../harness/load.ts'
import { makeMessage } from '../harness/messages.ts'
import { startPostfix } from '../harness/postfix.ts'
import { freePort, pause, run, until } from '../harness/processes.ts'
import { alternate, median, quantile, type Round, ratioOf } from '../harness/rounds.ts'

interface Waits {
  readonly seconds: number
  readonly messages: number
  readonly waits: readonly number[]
}

export async function smtpClients(order: Readonly<Record<string, unknown>>): Promise<Waits> {
  return JSON.parse(await run(process.execPath, ['bench/load/smtp-clients.ts', JSON.stringify(order)])) as Waits
}

/** How long a client waits for its 250 when 50 send at once, and how many a second that is, also with AUTH and TLS. */
export const waitFor250: Case = {
  name: 'wait-for-250',
  async run(context) {
    const { service, rounds, seconds, report } = context
    const postfix = await startPostfix({})
    await service.start('relay')
    const from = `desk@${service.domain}`
    const shape = { from, octets: 10_000, sessions: 50, seconds, messages: 1_000_000 }
    const ours =
      (order: Readonly<Record<string, unknown>>, take: (found: Waits) => number): Round =>
      async () => {
        const found = await smtpClients({ ...shape, ...order })
        expectCount('messages accepted', await service.accepted(), found.messages)
        await service.empty()
        return take(found)
      }
    const p99 = ({ waits }: Waits): number => quantile(waits, 0.99)
    try {
      await smtpSource({ port: service.relayPort, from, octets: 10_000, sessions: 50, kept: true }, WARM_UP)
      await service.empty()
      report('p99 of the 250, 10 kB, 50 sessions')
      const found = await alternate(
        {
          postrider: ours({ port: service.relayPort }, p99),
          postfix: async () => {
            const waits = await smtpClients({ ...shape, port: postfix.port })
            await postfix.empty()
            return p99(waits)
          },
        },
        rounds,
        report,
      )
      const ratio = ratioOf(found)
      report('durable accept with AUTH and TLS, 10 kB, 50 sessions')
      const order = { port: service.relayTlsPort, apiKey: service.apiKey }
      const secured = await alternate(
        { postrider: ours(order, (found) => found.messages / found.seconds) },
        rounds,
        report,
      )
      return [
        {
          title: 'p99 of the 250, 10 kB, 50 sessions',
          unit: 'ms',
          rounds: found,
          target: { sense: 'at most', value: 1 },
          ...(ratio && { ratio }),
        },
        { title: 'durable accept with AUTH and TLS, 10 kB, 50 sessions', unit: 'messages/s', rounds: secured },
      ]
    } finally {
      await postfix.stop()
      await service.stop('relay')
    }
  },
}

/** From the last octet of a message to its arrival, one at a time on an idle machine. */
export const idleLatency: Case = {
  name: 'idle-latency',
  async run({ service, rounds, quick, report }) {
    report('idle latency, SMTP to sink, one message at a time')
    const sink = await startClockedSink()
    let postfix: Awaited<ReturnType<typeof startPostfix>> | undefined
    const messages = quick ? 40 : 100
    const from = `desk@${service.domain}`
    const load = { from, sessions: 20, octets: 10_000, kept: true }
    const round =
      (port: number): Round =>
      async () =>
        median(await timeArrivals({ port, from, messages, sink }))
    // The sink is in this process, which does not end while it listens.
    try {
      postfix = await startPostfix({ sinkPort: sink.port })
      await service.start('relay')
      await service.start('delivery', { sinkPort: sink.port })
      await smtpSource({ ...load, port: service.relayPort }, WARM_UP)
      await service.drained(WARM_UP)
      await round(service.relayPort)()
      await round(postfix.port)()
      const found = await alternate(
        { postrider: round(service.relayPort), postfix: round(postfix.port) },
        rounds,
        report,
      )
      await service.drained()
      const ratio = ratioOf(found)
      const target = { sense: 'at most', value: 2 } as const
      const title = 'idle latency, SMTP to sink, median'
      return [{ title, unit: 'ms', rounds: found, key: 'idle_latency_vs_postfix', target, ...(ratio && { ratio }) }]
    } finally {
      await postfix?.stop()
      await service.stop('relay')
      await service.stop('delivery')
      await sink.stop()
    }
  },
}

interface Timed {
  readonly port: number
  readonly from: string
  readonly messages: number
  readonly sink: ClockedSink
}

/**
 * Milliseconds that messages of 10 kB take to the sink, one at a time over one connection. `observe` is called after each with when it was sent and
 * when it arrived.
 */
export async function timeArrivals(
  { port, from, messages, sink }: Timed,
  observe: (sent: number, arrived: number) => void = () => {},
): Promise<number[]> {
  const transport = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: 1, ignoreTLS: true })
  const envelope = { from, to: 'someone@harbor.example' }
  const raw = makeMessage(from, 10_000)
  const times: number[] = []
  try {
    for (let at = 0; at < messages; at++) {
      const before = sink.arrivals.length
      const sent = performance.now()
      await transport.sendMail({ envelope, raw })
      await until('the arrival', () => sink.arrivals.length > before, { every: 1, seconds: 10 })
      const arrived = sink.arrivals.at(-1) ?? 0
      times.push(arrived - sent)
      await pause(50)
      observe(sent, arrived)
    }
  } finally {
    transport.close()
  }
  return times
}

export interface ClockedSink {
  readonly port: number
  readonly arrivals: number[]
  stop(): Promise<void>
}

/** Takes mail and notes when; in this process, so that one clock times both ends. */
export async function startClockedSink(): Promise<ClockedSink> {
  const arrivals: number[] = []
  const server = createServer({ noDelay: true }, (socket) => {
    let inData = false
    let text = ''
    socket.on('error', () => {})
    socket.write('220 sink.test ESMTP\r\n')
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (;;) {
        const ending = inData ? '\r\n.\r\n' : '\r\n'
        const end = text.indexOf(ending)
        if (end === -1) return
        const verb = inData ? 'dot' : text.slice(0, 4).toUpperCase()
        text = text.slice(end + ending.length)
        if (inData) arrivals.push(performance.now())
        inData = verb === 'DATA'
        socket.write(REPLIES[verb] ?? '250 2.0.0 Ok\r\n')
      }
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    arrivals,
    async stop() {
      server.close()
    },
  }
}

const REPLIES: Readonly<Record<string, string>> = {
  DATA: '354 go ahead\r\n',
  EHLO: '250-sink.test\r\n250-PIPELINING\r\n250 8BITMIME\r\n',
  QUIT: '221 bye\r\n',
}
