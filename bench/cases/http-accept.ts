import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { httpLoad } from '../harness/load.ts'
import { makeBatch, makeCall } from '../harness/messages.ts'
import { freePort, type Running, start } from '../harness/processes.ts'
import { ProcessorTime } from '../harness/processor.ts'
import { alternate, type Finding, median, ratioOf } from '../harness/rounds.ts'

/** Durable accept over HTTP, against a Fastify that answers the same and does nothing. */
export const httpAccept: Case = {
  name: 'http-accept',
  async run(context) {
    const { service, quick } = context
    await service.start('api')
    try {
      const findings = [await againstNothing(context)]
      findings.push(await largeCall(context))
      findings.push(await visibleCall(context), await differentMessages(context))
      if (!quick) for (const connections of [1, 256]) findings.push(await alone(context, connections, 1))
      if (!quick) findings.push(await alone(context, 64, 100))
      return findings
    } finally {
      await service.stop('api')
      // Calls that were in progress at the end of a round are stored while it is counted.
      await service.empty()
    }
  },
}

async function againstNothing({ service, rounds, seconds, report }: Context): Promise<Finding> {
  const title = 'HTTP durable accept, 2 kB, 64 connections, against a Fastify that does nothing'
  report(title)
  const noop = await startNoop()
  try {
    // The first 40,000 calls are slower: compilers learn while they are used.
    await accept(service, 64, 1, 8)
    await httpLoad({ ...call(service, 1), url: noop.url, connections: 64 }, 2)
    const processor = new ProcessorTime()
    const found = await alternate(
      {
        postrider: () => accept(service, 64, 1, seconds, processor),
        nothing: async () => {
          const idle = { ...call(service, 1), url: noop.url, connections: 64 }
          const { perSecond } = await processor.during(
            'nothing',
            [noop.running.pid],
            (result) => result.succeeded,
            () => httpLoad(idle, seconds),
          )
          return perSecond
        },
      },
      rounds,
      report,
    )
    const ratio = ratioOf(found)
    const target = { sense: 'at least', value: 0.2 } as const
    return {
      title,
      unit: 'calls/s',
      rounds: found,
      processor: processor.rounds,
      key: 'http_accept_vs_noop',
      target,
      ...(ratio && { ratio }),
    }
  } finally {
    await noop.running.stop()
  }
}

async function alone(context: Context, connections: number, recipients: number): Promise<Finding> {
  const { service, rounds, seconds, report } = context
  const title = `HTTP durable accept, 2 kB, ${connections} connections, ${recipients} recipients a call`
  report(title)
  const found = await alternate({ postrider: () => accept(service, connections, recipients, seconds) }, rounds, report)
  return { title, unit: 'calls/s', rounds: found }
}

/** One call with 1,000 recipients at a time. */
async function largeCall({ service, rounds, report }: Context): Promise<Finding> {
  const title = 'one HTTP call with 1,000 personalizations'
  report(title)
  const { url, apiKey, body } = call(service, 1000)
  const round = () =>
    perSecond(service, { url, headers: { api_key: apiKey }, body, status: 200, elements: 1000, messages: 1 })
  await round()
  const found = await alternate({ postrider: round }, rounds, report)
  const target = { sense: 'at least', value: 20_000 } as const
  return { title, unit: 'recipients/s', rounds: found, key: 'batch_recipients_per_s', target }
}

/** One call whose 1,000 recipients see each other with their names, against one whose recipients do not. */
async function visibleCall({ service, rounds, report }: Context): Promise<Finding> {
  const title = 'one v3 call with 1,000 visible recipients with names, against 1,000 personalizations'
  report(title)
  const { apiUrl, apiKey, domain } = service
  const people = Array.from({ length: 1000 }, (_, at) => ({ email: `r${at}@site.example`, name: `Recipient ${at}` }))
  const round = (personalizations: readonly unknown[]) => () =>
    perSecond(service, {
      url: `${apiUrl}/v3/mail/send`,
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        personalizations,
        from: { email: `desk@${domain}` },
        subject: 'Berth',
        content: [{ type: 'text/plain', value: 'x'.repeat(2000) }],
      }),
      status: 202,
      elements: 1000,
      messages: 1,
    })
  const contestants = { postrider: round([{ to: people }]), apart: round(people.map((one) => ({ to: [one] }))) }
  for (const warm of Object.values(contestants)) await warm()
  const found = await alternate(contestants, rounds, report)
  const ratio = ratioOf(found)
  const target = { sense: 'at least', value: 0.67 } as const
  return { title, unit: 'recipients/s', rounds: found, key: 'visible_vs_apart', target, ...(ratio && { ratio }) }
}

/** One call with 500 different messages at a time, against one with as many personalizations. */
async function differentMessages({ service, rounds, report }: Context): Promise<Finding> {
  const title = 'one HTTP call with 500 different messages, against 500 personalizations'
  report(title)
  const { apiUrl, apiKey, domain } = service
  const common = { headers: { api_key: apiKey }, status: 200, elements: 500 }
  const ofMessages = { url: `${apiUrl}/v2/messages/batch`, body: makeBatch(`desk@${domain}`, 2000, 500), messages: 500 }
  const { url, body } = call(service, 500)
  const different = () => perSecond(service, { ...common, ...ofMessages })
  const personalizations = () => perSecond(service, { ...common, url, body, messages: 1 })
  await different()
  const found = await alternate({ postrider: different, personalizations }, rounds, report)
  const ratio = ratioOf(found)
  const target = { sense: 'at least', value: 0.5 } as const
  return {
    title,
    unit: 'messages/s',
    rounds: found,
    key: 'batch_messages_vs_recipients',
    target,
    ...(ratio && { ratio }),
  }
}

interface LargeCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly status: number
  /** What is counted of a call: its recipients or messages. */
  readonly elements: number
  /** Messages that are stored of it. */
  readonly messages: number
}

/** Returns the elements per second of the median call. */
async function perSecond(service: Context['service'], large: LargeCall): Promise<number> {
  const { url, headers, body, status, elements, messages } = large
  const times: number[] = []
  for (let at = 0; at < 20; at++) {
    const began = performance.now()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    await response.text()
    expectCount('status', response.status, status)
    times.push((performance.now() - began) / 1000)
  }
  expectCount('messages accepted', await service.accepted(), times.length * messages)
  await service.empty()
  return elements / median(times)
}

function call({ apiUrl, apiKey, domain }: Context['service'], recipients: number) {
  return { url: `${apiUrl}/v2/sendEmail`, apiKey, body: makeCall(`desk@${domain}`, 2000, recipients) }
}

async function accept(
  service: Context['service'],
  connections: number,
  recipients: number,
  seconds: number,
  processor = new ProcessorTime(),
): Promise<number> {
  const { perSecond, succeeded, failed } = await processor.during(
    'postrider',
    service.roots(),
    (result) => result.succeeded,
    () => httpLoad({ ...call(service, recipients), connections }, seconds),
  )
  expectCount('calls refused', failed, 0)
  const accepted = await service.accepted()
  // At its end the load generator hangs up on calls under way, one a connection, and leaves uncounted the answer before it.
  if (accepted < succeeded || accepted > succeeded + 2 * connections) {
    expectCount('messages accepted', accepted, succeeded)
  }
  await service.empty()
  return perSecond
}

async function startNoop(): Promise<{ url: string; running: Running }> {
  const port = await freePort()
  const running = await start(process.execPath, ['bench/load/noop.ts', String(port)], { ready: /started/ })
  return { url: `http://127.0.0.1:${port}/v2/sendEmail`, running }
}
