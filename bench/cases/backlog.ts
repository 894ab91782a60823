import { startDns, type Zone } from '../../test/helpers/dns.ts'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { WARM_UP } from '../harness/load.ts'
import { makeCall } from '../harness/messages.ts'
import { freePort, until } from '../harness/processes.ts'
import { trickle } from '../harness/quiet.ts'
import { type Finding, quantile } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { startSlowSink } from '../harness/slow-sink.ts'

/** The servers of the backlog, and those of the quiet account's recipients, where they are others. */
const HOSTS = { backlog: '127.0.0.2', quiet: '127.0.0.3' } as const
const HOST_SETS = 300
const DOMAINS = 2000
const BACKLOG = 30_000
const RECIPIENTS = 500
const QUIET_DOMAIN = 'quiet.example'
/** Milliseconds between two messages of the quiet account. */
const EVERY_MS = 200
/** Milliseconds after which a message of the quiet account is taken for waiting behind the whole backlog. */
const PATIENCE_MS = 120_000
const TITLE = "accept to delivery of a quiet account's mail, p99, behind another account's 30,000 due over 300 MX sets"

/** Account A has 30,000 deliveries due; account B sends five a second: from accept to delivery of B's mail. */
export const backlog: Case = {
  name: 'backlog',
  run: (context) => measure(context, { title: TITLE }),
}

/** Milliseconds that servers wait before they answer DATA. */
const SLOW = { least: 1000, most: 4000 } as const
/** Deliveries of the backlog before the other account's mail is measured: until then its domains are looked up and its sessions opened. */
const LEAD = 2000

/**
 * The same behind servers that take some seconds for a message, as those of the Internet do, so that the processors, which sinks and
 * load generator share, are not what the quiet account waits for. Its recipients have a server of their own.
 */
export const slowBacklog: Case = {
  name: 'slow-backlog',
  run: (context) => measure(context, { title: `${TITLE} that take 1 to 4 s for a message`, isSlow: true }),
}

interface Sender {
  readonly from: string
  readonly apiKey: string
  readonly recipientDomain: () => string
}

interface Backlog {
  readonly title: string
  readonly isSlow?: boolean
}

async function measure({ service, report }: Context, { title, isSlow = false }: Backlog): Promise<Finding[]> {
  report(title)
  const port = await freePort()
  const closers: (() => unknown)[] = []
  const dns = await startDns({ teardown: (close) => void closers.push(close) }, zones())
  const server = { host: HOSTS.backlog, port }
  const sink = await (isSlow ? startSlowSink(server, SLOW) : startSmtpSink(server))
  const ownSink = isSlow ? await startSmtpSink({ host: HOSTS.quiet, port }) : undefined
  const quiet = await service.makeSender(`quiet${Date.now()}`)
  const settings = { DELIVERY: 'mx', DNS_SERVERS: dns.address, MX_PORT: String(port), MX_PRIVATE_NETWORKS: 'allow' }
  let [sent, next] = [0, Math.floor(Math.random() * DOMAINS)]
  const domainOfBacklog = (): string => `d${next++ % DOMAINS}.example`
  const domainOfQuiet = ownSink ? () => QUIET_DOMAIN : domainOfBacklog
  const send = async (sender: Sender, recipients: number): Promise<void> => {
    // Each message has another recipient: those of several within ten minutes are reported, and compared in the database.
    const body = makeCall(sender.from, 2000, recipients).replaceAll(
      '@harbor.example',
      () => `.${++sent}@${sender.recipientDomain()}`,
    )
    const headers = { 'content-type': 'application/json', api_key: sender.apiKey }
    const response = await fetch(`${service.apiUrl}/v2/sendEmail`, { method: 'POST', headers, body })
    await response.text()
    expectCount('status', response.status, 200)
  }
  const from = `desk@${quiet.domain}`
  const trickleOf = (messages: number): Promise<number[]> =>
    trickle(service.sql, {
      from,
      messages,
      every: EVERY_MS,
      patience: PATIENCE_MS / 1000,
      send: () => send({ from, apiKey: quiet.apiKey, recipientDomain: domainOfQuiet }, 1),
    })
  const fill = async (deliveries: number, recipientDomain: () => string): Promise<void> => {
    const sender = { from: `desk@${service.domain}`, apiKey: service.apiKey, recipientDomain }
    for (let sent = 0; sent < deliveries; sent += RECIPIENTS) await send(sender, RECIPIENTS)
  }
  const messages = 100
  await service.start('api')
  try {
    await service.start('delivery', { settings })
    await fill(WARM_UP, domainOfQuiet)
    await service.drained()
    await trickleOf(20)
    await service.empty()
    const alone = await trickleOf(messages)
    await service.empty()
    const lead = sink.count() + LEAD
    await fill(BACKLOG, domainOfBacklog)
    await until('the backlog to be in progress', () => sink.count() >= lead, { seconds: PATIENCE_MS / 1000 })
    const [arrived, began] = [sink.count(), performance.now()]
    const beside = await trickleOf(messages)
    const rate = ((sink.count() - arrived) / (performance.now() - began)) * 1000
    const p99 = [quantile(beside, 0.99), quantile(alone, 0.99)] as const
    const half = [quantile(beside, 0.5), quantile(alone, 0.5)] as const
    const left = await service.sql`select 1 from delivery_queue limit 1`
    report(
      `  p99 ${p99.map((ms) => ms.toFixed(0)).join(' and ')} ms alone, median ${half.map((ms) => ms.toFixed(0)).join(' and ')}`,
    )
    report(
      `  the backlog was ${left.length > 0 ? 'still there' : 'gone'} at the end; ${rate.toFixed(0)} messages/s of it were delivered meanwhile`,
    )
    const rounds = { 'behind a backlog': [p99[0]], alone: [p99[1]] }
    return [{ title, unit: 'ms', rounds, ratio: p99[0] / p99[1], target: { sense: 'at most', value: 1.5 } }]
  } finally {
    await service.reset()
    await sink.stop()
    await ownSink?.stop()
    for (const close of closers) await close()
  }
}

function zones(): Record<string, Zone> {
  const found: Record<string, Zone> = {}
  for (let at = 0; at < DOMAINS; at++) found[`d${at}.example`] = { mx: [[10, `mx.s${at % HOST_SETS}.example`]] }
  for (let at = 0; at < HOST_SETS; at++) found[`mx.s${at}.example`] = { a: [HOSTS.backlog] }
  found[QUIET_DOMAIN] = { mx: [[10, `mx.${QUIET_DOMAIN}`]] }
  found[`mx.${QUIET_DOMAIN}`] = { a: [HOSTS.quiet] }
  return found
}
