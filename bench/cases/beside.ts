import { availableParallelism } from 'node:os'
import { startDns, type Zone } from '../../test/helpers/dns.ts'
import { httpClients, sendCall, v2Call, v3Call } from '../harness/calls.ts'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { prose } from '../harness/messages.ts'
import { freePort, pause, until } from '../harness/processes.ts'
import { sinceNow } from '../harness/processor.ts'
import { trickle } from '../harness/quiet.ts'
import { addWebhook, startReceiver, WEBHOOK_SETTINGS } from '../harness/receiver.ts'
import { alternate, type Finding, format, median, quantile, type Round } from '../harness/rounds.ts'
import type { Sender, Service } from '../harness/service.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { startThrottle } from '../harness/throttle.ts'

const HOSTS = { sink: '127.0.0.2', throttle: (number: number) => `127.0.4.${number + 1}` } as const
const SITE = 'harbor.example'
/** A throttled provider of its own for each round: the limits that its answers cause last longer than a round. */
const PROVIDERS = 20
const providerOf = (number: number): string => `busy${number}.example`
/** Milliseconds until it answers. */
const THROTTLE = { least: 500, most: 2000 } as const
/** Messages for it that wait when a round begins. */
const WAITING = 2000
/** Milliseconds between two messages of the other account. */
const OTHER_EVERY_MS = 50
/** Milliseconds between two messages of the quiet account, and their number. */
const QUIET = { every: 40, quick: 110, whole: 400, warmUp: 200, patience: 120 } as const
/** Of the plain messages after which the processes run at their speed. */
const WARM_UP = 4000
/** Milliseconds of the load before the quiet account's mail is measured. */
const LEAD_MS = 1500
/** Rows and columns of the costly template's loop: almost the two million steps that a rendering may have, 70 ms and more. */
const COSTLY = { rows: 800, columns: 800 } as const
/** Messages from it in progress: a worker renders in two threads. */
const RENDERINGS = 4

/** Another account's load. Returns what ends it, and throws unless all of its mail was accepted and delivered or waits. */
type Neighbour = () => Promise<() => Promise<void>>

interface Setting {
  readonly service: Service
  readonly report: Context['report']
  readonly other: Sender
  readonly port: number
}

/**
 * Accept to delivery of a quiet account's mail beside things that go wrong, or take long, with another account's mail. The quiet account's
 * mail is made from a small dynamic template, which the worker renders.
 */
export const beside: Case = {
  name: 'beside',
  long: true,
  async run(context) {
    const { service, report } = context
    const port = await freePort()
    const closers: (() => unknown)[] = []
    const dns = await startDns({ teardown: (close) => void closers.push(close) }, zones())
    const sink = await startSmtpSink({ host: HOSTS.sink, port })
    const settings = {
      ...WEBHOOK_SETTINGS,
      DELIVERY: 'mx',
      DNS_SERVERS: dns.address,
      MX_PORT: String(port),
      MX_PRIVATE_NETWORKS: 'allow',
    }
    const other = await service.makeSender(`other${Date.now()}`)
    try {
      await service.start('api', { settings })
      await service.start('delivery', { settings })
      await httpClients(service.apiUrl, [v2Call(other, prose(2000, 7))], { messages: WARM_UP })
      await service.drained(WARM_UP)
      const setting = { service, report, other, port }
      return await measure(context, {
        'a throttled provider': throttled(setting),
        'a dead webhook receiver': deadWebhook(setting),
        'a costly template': await costlyTemplate(setting, 1),
        'a costly template, four messages at once': await costlyTemplate(setting, RENDERINGS),
      })
    } finally {
      await service.reset()
      await sink.stop()
      for (const close of closers) await close()
    }
  },
}

const KEYS: Readonly<Record<string, string>> = {
  'a throttled provider': 'beside_throttled',
  'a dead webhook receiver': 'beside_dead_webhook',
  'a costly template': 'beside_template',
  'a costly template, four messages at once': 'beside_templates',
}

async function measure(
  { service, rounds, quick, report }: Context,
  neighbours: Readonly<Record<string, Neighbour>>,
): Promise<Finding[]> {
  const what = "accept to delivery of a quiet account's mail, p99"
  report(`${what}, alone and beside another account with ${Object.keys(neighbours).join(', ')}`)
  const quiet = await service.makeSender(`quiet${Date.now()}`)
  const { accountId } = quiet
  const { id: templateId } = await service.core.editableTemplates.create({
    accountId,
    name: 'code',
    generation: 'dynamic',
  })
  const html = `<p>Dear {{name}}, your berths: {{#each berths}}{{this}} {{/each}}</p>${prose(2000, 7)}`
  await service.core.editableTemplates.addVersion(
    { accountId, id: templateId },
    { name: 'first', subject: 'Your code', html },
  )
  const call = v3Call(quiet, { templateId, data: { name: 'Lena', berths: [1, 2, 3] } })
  /** Milliseconds until the call was answered. */
  const answers: Record<string, number[]> = {}
  const halves: Record<string, number[]> = {}
  const shares: Record<string, Record<string, number[]>> = {}
  const mail = (messages: number, times: number[] = []): Promise<number[]> =>
    trickle(service.sql, {
      from: `desk@${quiet.domain}`,
      messages,
      every: QUIET.every,
      patience: QUIET.patience,
      async send() {
        const sent = performance.now()
        await sendCall(service.apiUrl, call)
        times.push(performance.now() - sent)
      },
    })
  const round =
    (name: string, neighbour?: Neighbour): Round =>
    async () => {
      const end = await neighbour?.()
      await pause(LEAD_MS)
      const used = sinceNow(service.parts())
      const began = performance.now()
      const waits = await mail(quick ? QUIET.quick : QUIET.whole, (answers[name] ??= []))
      const took = (performance.now() - began) * 1000
      for (const [part, time] of used()) ((shares[name] ??= {})[part] ??= []).push(time / took)
      await end?.()
      await service.empty()
      ;(halves[name] ??= []).push(quantile(waits, 0.5))
      return quantile(waits, 0.99)
    }
  await mail(QUIET.warmUp)
  await service.empty()
  const contestants: Record<string, Round> = { alone: round('alone') }
  for (const [name, neighbour] of Object.entries(neighbours)) contestants[name] = round(name, neighbour)
  const found = await alternate(contestants, rounds, report)
  for (const name of Object.keys(contestants)) {
    const parts = Object.entries(shares[name] ?? {}).map(([part, values]) => `${part} ${median(values).toFixed(2)}`)
    report(
      `  ${name}: median ${format(median(halves[name] ?? []))} ms, p99 of the answers to calls ${format(quantile(answers[name] ?? [], 0.99))} ms, of ` +
        `${availableParallelism()} processors used: ${parts.join(', ')}`,
    )
  }
  const { alone = [] } = found
  return Object.keys(neighbours).map((name) => {
    const own = found[name] ?? []
    return {
      title: `${what}, beside another account with ${name}`,
      unit: 'ms',
      rounds: { [`beside ${name}`]: own, alone },
      ratio: median(own) / median(alone),
      target: { sense: 'at most', value: 1.5 },
      key: KEYS[name] as string,
    }
  })
}

/** Mail of the other account to a provider that refuses all of it for now, and takes its time for that. */
function throttled({ service, report, other, port }: Setting): Neighbour {
  let number = 0
  return async () => {
    const provider = number++ % PROVIDERS
    const throttle = await startThrottle({ host: HOSTS.throttle(provider), port }, THROTTLE)
    const call = v2Call(other, prose(2000, 7), providerOf(provider))
    await httpClients(service.apiUrl, [call], { messages: WAITING })
    const stop = keepSending(() => sendCall(service.apiUrl, call), OTHER_EVERY_MS)
    return async () => {
      const sent = WAITING + (await stop())
      const [row] = await service.sql<{ waiting: number }[]>`
        select count(*)::int as waiting from delivery_queue where recipient_domain = ${providerOf(provider)}`
      expectCount('messages that wait for the provider', row?.waiting ?? 0, sent)
      report(`    ${sent} messages for the provider, ${throttle.refused()} refusals`)
      if (throttle.refused() === 0) throw new Error('the provider was offered no mail')
      await service.empty()
      // The worker holds deliveries that are no longer in the queue.
      await until('the end of its conversations', () => throttle.connections() === 0, { seconds: 30 })
      await throttle.stop()
    }
  }
}

/** Mail of the other account, whose webhook goes to a receiver that accepts connections and never answers. */
function deadWebhook({ service, report, other }: Setting): Neighbour {
  return async () => {
    const receiver = await startReceiver()
    const remove = await addWebhook(service.apiUrl, other.apiKey, receiver.url)
    receiver.silence()
    const stop = keepSending(() => sendCall(service.apiUrl, v2Call(other, prose(2000, 7))), OTHER_EVERY_MS)
    return async () => {
      const sent = await stop()
      await arrived(service, other, sent)
      report(`    ${sent} messages of the other account, ${receiver.unanswered()} requests of its webhook`)
      if (receiver.unanswered() === 0) throw new Error('the receiver was sent no events')
      await remove()
      await receiver.stop()
    }
  }
}

/** Mail of the other account from a template that takes long to render, with always as many messages in progress. */
async function costlyTemplate({ service, report, other }: Setting, atOnce: number): Promise<Neighbour> {
  const { accountId } = other
  const { editableTemplates } = service.core
  const { id } = await editableTemplates.create({ accountId, name: 'costly', generation: 'dynamic' })
  const cell = '{{#greaterThan this ../this}}{{else}}{{#equals this @root.wanted}}x{{/equals}}{{/greaterThan}}'
  const html = `<p>{{#each rows}}{{#each @root.columns}}${cell}{{/each}}{{/each}}</p>`
  // Without a text, which would have the same loop: both together are not to take more steps than a rendering may have.
  const version = { name: 'first', subject: 'A table', html, plain: '', generatePlain: false }
  await editableTemplates.addVersion({ accountId, id }, version)
  const numbers = (length: number): number[] => Array.from({ length }, (_none, at) => at)
  const data = { rows: numbers(COSTLY.rows), columns: numbers(COSTLY.columns), wanted: -1 }
  const call = v3Call(other, { templateId: id, data })
  return async () => {
    let sent = 0
    const stop = keepSending(async () => {
      await sendCall(service.apiUrl, call)
      sent++
      await until('a rendering', async () => sent - (await finished(service, other)).length < atOnce, { every: 5 })
    }, 0)
    return async () => {
      await arrived(service, other, await stop())
      report(`    ${sent} messages from the costly template`)
    }
  }
}

/** Sends one after another until it is stopped; then returns how many. */
function keepSending(send: () => Promise<void>, every: number): () => Promise<number> {
  let [sent, stopped] = [0, false]
  const sending = (async () => {
    for (; !stopped; sent++) {
      await send()
      await pause(every)
    }
  })()
  // Reported when it is stopped.
  sending.catch(() => {})
  return async () => {
    stopped = true
    await sending
    return sent
  }
}

/** Waits for the account's mail to be delivered. Throws unless it was as much as was sent. */
async function arrived(service: Service, sender: Sender, sent: number): Promise<void> {
  await until("the other account's mail", async () => (await finished(service, sender)).length >= sent, { seconds: 60 })
  const states = await finished(service, sender)
  expectCount("the other account's deliveries", states.filter(({ state }) => state === 'delivered').length, sent)
}

function finished({ sql }: Service, { accountId }: Sender): Promise<{ state: string }[]> {
  return sql<{ state: string }[]>`select state from finished_deliveries where account_id = ${accountId}`
}

function zones(): Record<string, Zone> {
  const found: Record<string, Zone> = {
    [SITE]: { mx: [[10, `mx.${SITE}`]] },
    [`mx.${SITE}`]: { a: [HOSTS.sink] },
  }
  for (let number = 0; number < PROVIDERS; number++) {
    found[providerOf(number)] = { mx: [[10, `mx.${providerOf(number)}`]] }
    found[`mx.${providerOf(number)}`] = { a: [HOSTS.throttle(number)] }
  }
  return found
}
