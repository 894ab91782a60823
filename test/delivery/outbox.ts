import type { MessageDetails, Step } from '@postrider/core'
import type { Test } from 'tap'
import { moveClock } from '../helpers/database.ts'
import { type DnsOptions, type DnsServer, startDns, type Zone } from '../helpers/dns.ts'
import { freePorts } from '../helpers/ports.ts'
import { type ServiceProcess, startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { type Sink, type SinkOptions, startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { openWorker, type TestWorker } from '../helpers/worker.ts'

export type DeliveryDetails = MessageDetails['deliveries'][number]
export type AttemptStory = DeliveryDetails['attempts'][number]

/** The conversation of the delivery's last attempt. */
export function stepsOf({ attempts }: DeliveryDetails): Step[] {
  return (attempts.at(-1)?.conversation ?? []) as Step[]
}

/** Makes a finished delivery one whose attempt is in progress, by a worker that does not exist. */
export async function putInFlight({ sql }: Pick<TestService, 'sql'>, id: string): Promise<void> {
  await sql`
    with gone as (delete from finished_deliveries where message_id = ${id}::uuid returning *)
    insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at, worker_id)
    select message_id, recipient_no, account_id, 1, 'sending', recipient, recipient_key, recipient_domain, kind, now(),
           now() + interval '1 day', 999999
      from gone`
}

/** A service that accepts mail and a worker that delivers it. */
export interface Outbox<W extends TestWorker = TestWorker> {
  readonly service: TestService
  readonly sender: Sender
  readonly worker: W
  /** Sends one message by the v2 API and answers its id. */
  send(recipient: string, extra?: Record<string, unknown>): Promise<string>
  /** A session with the relay; `submit` answers the message's id. */
  openRelay(
    t: Test,
  ): Promise<{ submit(from: string, to: string | readonly string[], message: string | Buffer): Promise<string> }>
  story(id: string): Promise<MessageDetails>
  /** Waits until the delivery has had this many attempts, or is done with. */
  attempted(id: string, attempts?: number, recipientNo?: number): Promise<DeliveryDetails>
  /** Waits until the delivery is in this state. */
  inState(id: string, state: string, recipientNo?: number): Promise<DeliveryDetails>
  /** Moves the service's clock on by this many minutes more. */
  advance(minutes: number): Promise<void>
}

type Start<W> = (t: Test, service: TestService) => Promise<W>

const startWorkerProcess: Start<ServiceProcess> = (t, { env }) => startProcess(t, 'delivery', env)

/** `tracking`: opens and clicks of the sender's mail are tracked. */
export function startOutbox(
  t: Test,
  settings: Record<string, string>,
  { tracking = false }: { readonly tracking?: boolean } = {},
): Promise<Outbox> {
  return makeOutbox(t, settings, openWorker, tracking)
}

/** With a worker in a process of its own, for tests that kill or halt it, measure it, or give it variables that Node reads. */
export function startOutboxProcess(t: Test, settings: Record<string, string>): Promise<Outbox<ServiceProcess>> {
  return makeOutbox(t, settings, startWorkerProcess)
}

async function makeOutbox<W extends TestWorker>(
  t: Test,
  settings: Record<string, string>,
  start: Start<W>,
  tracking = false,
): Promise<Outbox<W>> {
  const service = await makeService(t, settings)
  const sender = await service.makeSender({ tracking })
  const base = await service.openApi()
  const worker = await start(t, service)
  let minutes = 0
  let opened: Promise<void> | undefined

  async function story(id: string): Promise<MessageDetails> {
    const found = await service.core.messages.show(id)
    if (!found) throw new Error(`there is no message ${id}`)
    return found
  }
  async function waitFor(
    what: string,
    id: string,
    recipientNo: number,
    fits: (delivery: DeliveryDetails) => boolean,
  ): Promise<DeliveryDetails> {
    let last: DeliveryDetails | undefined
    return until(
      what,
      async () => {
        last = (await story(id)).deliveries[recipientNo]
        return last && fits(last) ? last : undefined
      },
      40_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; it is ${JSON.stringify(last)}`)
    })
  }
  return {
    service,
    sender,
    worker,
    story,
    async openRelay(t) {
      await (opened ??= service.openRelay())
      const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
      await client.reply()
      await client.logIn(sender.apiKey)
      return {
        async submit(from, to, message) {
          const reply = await client.submit(from, to, message)
          const id = /queued as ([0-9a-f]{32})/.exec(reply)?.[1]
          if (!id) throw new Error(`not accepted: ${reply}`)
          return id
        },
      }
    },
    async send(recipient, extra = {}) {
      const answer = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [{ recipient }], ...extra }))
      const id = answer.body.data?.message_id
      if (!id) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
      return id
    },
    attempted: (id, attempts = 1, recipientNo = 0) =>
      waitFor(
        `attempt ${attempts}`,
        id,
        recipientNo,
        (delivery) => delivery.attempts.length >= attempts || delivery.finishedAt !== null,
      ),
    inState: (id, state, recipientNo = 0) =>
      waitFor(
        `state ${state}`,
        id,
        recipientNo,
        // The story is read in several statements: the state may be a moment younger than the attempts.
        (delivery) => delivery.state === state && delivery.attempts.length >= delivery.attempt,
      ),
    async advance(more) {
      minutes += more
      await moveClock(service.sql, `${minutes} minutes`)
    },
  }
}

/** An outbox that looks up MX records, and the part of the Internet it sees: every host on a loopback address of its own. */
export interface Internet<W extends TestWorker = TestWorker> extends Outbox<W> {
  readonly dns: DnsServer
  readonly port: number
  /** A name for a host or domain that nobody else has, and for hosts the address that goes with it. */
  newName(): string
  newAddress(): string
  /** A scripted SMTP host with a name in the DNS, a new one or one below `under`. */
  host(t: Test, options?: SinkOptions, under?: string): Promise<Sink & { readonly name: string }>
  /** A recipient domain: hosts in order of preference (10, 20, ...), or a zone. Answers its name. */
  domain(hosts: readonly { readonly name: string }[] | Zone): string
}

export function startInternet(
  t: Test,
  settings: Record<string, string> = {},
  options: DnsOptions = {},
): Promise<Internet> {
  return makeInternet(t, settings, openWorker, options)
}

/** As {@link startOutboxProcess}. */
export function startInternetProcess(
  t: Test,
  settings: Record<string, string> = {},
  options: DnsOptions = {},
): Promise<Internet<ServiceProcess>> {
  return makeInternet(t, settings, startWorkerProcess, options)
}

async function makeInternet<W extends TestWorker>(
  t: Test,
  settings: Record<string, string>,
  start: Start<W>,
  { isSigned }: DnsOptions,
): Promise<Internet<W>> {
  // The name servers of the root tell whether a resolver validates.
  const dns = await startDns(t, isSigned ? { '.': { ns: ['a.root.example'] } } : {}, isSigned ? { isSigned } : {})
  const [port = 0] = await freePorts(1)
  const own = {
    DELIVERY: 'mx',
    // Its hosts are on loopback.
    MX_PRIVATE_NETWORKS: 'allow',
    DNS_SERVERS: dns.address,
    MX_PORT: String(port),
    ...(isSigned ? { DNSSEC_RESOLVER: dns.address } : {}),
  }
  const outbox = await makeOutbox(t, { ...own, ...settings }, start)
  let names = 0
  const newName = (): string => `d${++names}.example`
  let addresses = 0
  const newAddress = (): string => `127.9.${++addresses >> 8}.${addresses & 255}`
  return {
    ...outbox,
    dns,
    port,
    newName,
    newAddress,
    async host(t, options = {}, under) {
      const name = under ? `mx${++names}.${under}` : `mx.${newName()}`
      const sink = await startSink(t, { host: newAddress(), port, ...options })
      dns.zones[name] = { a: [sink.host] }
      return Object.defineProperties({ name } as Sink & { name: string }, Object.getOwnPropertyDescriptors(sink))
    },
    domain(hosts) {
      const name = newName()
      dns.zones[name] = isZone(hosts) ? hosts : { mx: hosts.map((host, at) => [10 * (at + 1), host.name] as const) }
      return name
    },
  }
}

function isZone(hosts: readonly { readonly name: string }[] | Zone): hosts is Zone {
  return !Array.isArray(hosts)
}
