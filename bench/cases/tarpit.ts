import { startDns } from '../../test/helpers/dns.ts'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { makeCall } from '../harness/messages.ts'
import { freePort, until } from '../harness/processes.ts'
import { alternate, type Finding, ratioOf } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { startSlowSink } from '../harness/slow-sink.ts'

const SITES = 30
/** Seconds a tarpit takes for each message. */
const DELAY = 60
const RECIPIENTS = 500
/** Calls for the other sites, spread over them: more mail than a worker can hold. */
const CALLS = 30
const REFUSING = { name: 'refusing', host: '127.0.3.200', reply: '550 5.7.1 Message rejected as spam' } as const
const LEAST = { tarpits: 0.9, refusing: 0.95 } as const

/** What a good site gets while one other, or 30, take a minute for each message, or one refuses all of its sender. */
export const tarpit: Case = {
  name: 'tarpit',
  async run({ service, rounds, quick, report }: Context) {
    const port = await freePort()
    const closers: (() => unknown)[] = []
    const zones: Record<string, { mx?: [number, string][]; a?: string[] }> = {}
    const addSite = (name: string, address: string): void => {
      zones[`${name}.example`] = { mx: [[10, `mx.${name}.example`]] }
      zones[`mx.${name}.example`] = { a: [address] }
    }
    addSite('good', '127.0.0.2')
    for (let at = 0; at < SITES; at++) addSite(`tar${at}`, `127.0.3.${at + 1}`)
    addSite(REFUSING.name, REFUSING.host)
    const dns = await startDns({ teardown: (close) => void closers.push(close) }, zones)
    const sinks = [await startSmtpSink({ host: '127.0.0.2', port })]
    for (let at = 0; at < SITES; at++)
      sinks.push(await startSmtpSink({ host: `127.0.3.${at + 1}`, port, delay: DELAY }))
    sinks.push(await startSlowSink({ host: REFUSING.host, port }, { least: 0, most: 0, reply: REFUSING.reply }))
    const [good] = sinks
    let sent = 0
    const send = async (domain: string, calls: number): Promise<void> => {
      const headers = { 'content-type': 'application/json', api_key: service.apiKey }
      for (let call = 0; call < calls; call++) {
        // Each message has another recipient, as behind a backlog.
        const body = makeCall(`desk@${service.domain}`, 2000, RECIPIENTS).replaceAll(
          '@harbor.example',
          () => `.${++sent}@${domain}.example`,
        )
        const response = await fetch(`${service.apiUrl}/v2/sendEmail`, { method: 'POST', headers, body })
        await response.text()
        expectCount('status', response.status, 200)
      }
    }
    const calls = quick ? 10 : 30
    const settings = { DELIVERY: 'mx', DNS_SERVERS: dns.address, MX_PORT: String(port), MX_PRIVATE_NETWORKS: 'allow' }
    const round = (others: readonly string[]) => async (): Promise<number> => {
      await service.empty()
      for (let call = 0; others.length > 0 && call < CALLS; call++) await send(others[call % others.length] ?? '', 1)
      await service.start('delivery', { settings })
      // The others have what they can hold before the good site's mail comes, and the worker is as warm without them.
      await new Promise((resolve) => setTimeout(resolve, 8000))
      const before = good?.count() ?? 0
      const began = performance.now()
      await send('good', calls)
      const wanted = calls * RECIPIENTS
      await until('the last message', () => (good?.count() ?? 0) - before >= wanted, { seconds: 120 })
      const rate = wanted / ((performance.now() - began) / 1000)
      await service.stop('delivery')
      return rate
    }
    await service.start('api')
    try {
      await round([])()
      const beside = async (others: readonly string[], name: string, least: number): Promise<Finding> => {
        const title = `one site beside ${name}, against alone`
        report(title)
        const found = await alternate({ [`beside ${name}`]: round(others), alone: round([]) }, rounds, report)
        const ratio = ratioOf(found)
        return {
          title,
          unit: 'messages/s',
          rounds: found,
          target: { sense: 'at least', value: least },
          ...(ratio && { ratio }),
        }
      }
      const found = [
        await beside(['tar0'], 'a tarpit', LEAST.tarpits),
        await beside([REFUSING.name], 'one that refuses its sender', LEAST.refusing),
      ]
      if (quick) return found
      const tarpits = Array.from({ length: SITES }, (_none, at) => `tar${at}`)
      return [...found, await beside(tarpits, `${SITES} tarpits`, LEAST.tarpits)]
    } finally {
      await service.reset()
      await Promise.all(sinks.map((sink) => sink.stop()))
      for (const close of closers) await close()
    }
  },
}
