import { fileURLToPath } from 'node:url'
import type { Config } from '@postrider/core'
import type { HeldSocket, HeldSockets } from './held-sockets.ts'
import type { Program } from './supervisor.ts'

/**
 * Returns the programs that `postrider up` runs, with their listening sockets. Processes of one kind share their sockets, except those of their metrics.
 *
 * Throws an AggregateError with the errors of the system, of all addresses that are in use or cannot be bound: one at a time, each would take another start.
 */
export async function programs(config: Config, sockets: HeldSockets): Promise<Program[]> {
  const failures: unknown[] = []
  const found = await programsOn(config, {
    ...sockets,
    hold: (...address) => sockets.hold(...address).catch((error: unknown) => void failures.push(error)),
  })
  if (failures.length > 0) throw new AggregateError(failures)
  return found
}

async function programsOn(config: Config, held: HeldSockets): Promise<Program[]> {
  const { apiHost, relayHost, returnsHost } = config
  const api = await held.hold('api', apiHost, config.apiPort)
  const relay = await held.hold('relay', relayHost, config.relayPort)
  const relayTls = await held.hold('relay-tls', relayHost, config.relayTlsPort)
  const returns = await held.hold('returns', returnsHost, config.returnsPort)
  const kinds = [
    { name: 'api', specifier: '@postrider/api/server', sockets: [api], count: config.apiProcesses },
    { name: 'relay', specifier: '@postrider/relay/server', sockets: [relay, relayTls], count: config.relayProcesses },
    { name: 'delivery', specifier: '@postrider/delivery/worker', sockets: [], count: config.workers },
    { name: 'returns', specifier: '@postrider/relay/returns-server', sockets: [returns], count: 1 },
  ]
  const numbered = kinds.flatMap((kind) => Array.from({ length: kind.count }, (_, at) => ({ ...kind, at })))
  // The first of each kind come first, so that their metrics have the same ports however many others there are.
  const ordered = [...numbered.filter(({ at }) => at === 0), ...numbered.filter(({ at }) => at > 0)]
  const all = ordered.map(({ name, specifier, sockets, count, at }) =>
    program(count === 1 ? name : `${name} ${at + 1}`, specifier, sockets),
  )
  const withMetrics = await Promise.all(all.map((one, at) => addMetrics(one, config, held, at)))
  return [...(config.delivery.kind === 'sandbox' ? [await sandbox(config, held)] : []), ...withMetrics]
}

/** Stopped last, and never run twice: its inbox belongs to one process. */
async function sandbox({ sandboxHost, sandboxSmtpPort, sandboxHttpPort }: Config, held: HeldSockets): Promise<Program> {
  const smtp = await held.hold('sandbox-smtp', sandboxHost, sandboxSmtpPort)
  const http = await held.hold('sandbox-http', sandboxHost, sandboxHttpPort)
  return { ...program('sandbox', '@postrider/sandbox/server', [smtp, http]), last: true }
}

function program(name: string, specifier: string, sockets: readonly (HeldSocket | undefined)[]): Program {
  return {
    name,
    file: fileURLToPath(import.meta.resolve(specifier)),
    sockets: sockets.filter((socket) => socket !== undefined),
  }
}

/** The port of the first program's metrics is METRICS_PORT, that of the second the next one, and so on. */
async function addMetrics(one: Program, config: Config, held: HeldSockets, at: number): Promise<Program> {
  if (config.metricsPort === undefined) return one
  const port = config.metricsPort + at
  const socket = await held.hold('metrics', config.metricsHost, port)
  const sockets = [...(one.sockets ?? []), ...(socket ? [socket] : [])]
  return { ...one, sockets, env: { METRICS_PORT: String(port) } }
}
