import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { signWithEd25519 } from '../test/helpers/ed25519.ts'
import { fillQueue } from './cases/growth.ts'
import { smtpSource } from './harness/load.ts'
import { freePort, pause, stopAll, until } from './harness/processes.ts'
import { openService } from './harness/service.ts'
import { startSmtpSink } from './harness/sink.ts'
import { PG_STAT_STATEMENTS, slowestStatements } from './harness/statements.ts'

/**
 * Who uses the processor on a message's way: microseconds a message, end to end, by process and by statement of the database.
 * `node bench/cpu.ts [--messages N] [--octets N] [--accept] [--profile FOLDER] [--flags="--a --b"] [--waiting] [--one]`: --profile leaves a
 * .cpuprofile of each process in that folder, --flags are for Node. --waiting: with a million deliveries that wait for tomorrow. --one: one message
 * at a time. --octets: the size of a message, 10,000 by default; from 50,000 on in 10 instead of 50 sessions. --accept: without a worker.
 * --operator-dkim: a domain of the operator signs, too. --ed25519: the domain has a second key, of that kind. --metrics: METRICS_PORT is set, and
 * read every five seconds. bench/in-turn.ts compares two such runs.
 */
const { values: options } = parseArgs({
  options: {
    profile: { type: 'string' },
    messages: { type: 'string' },
    flags: { type: 'string' },
    octets: { type: 'string', default: '10000' },
    accept: { type: 'boolean', default: false },
    waiting: { type: 'boolean', default: false },
    one: { type: 'boolean', default: false },
    'operator-dkim': { type: 'boolean', default: false },
    ed25519: { type: 'boolean', default: false },
    metrics: { type: 'boolean', default: false },
  },
})
const MESSAGES = Number(options.messages ?? 6000)
const OCTETS = Number(options.octets)
/** Linux counts processor time in hundredths of a second. */
const TICK_US = 10_000
/** Of the processes with metrics. */
const ports: number[] = []

interface Time {
  readonly user: number
  readonly system: number
}

/** The processor time of each part: only of processes of this run, since others may run on the machine. */
function processorTime(roots: readonly number[]): Map<string, Time> {
  const times = new Map<string, Time>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const name = /packages\/(relay|delivery)/.exec(command)?.[1] ?? /^postgres|smtp-s(?:ink|ource)/.exec(command)?.[0]
      if (!name) continue
      // The name of the program may hold blanks; the numbers stand behind its bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      if (![Number(pid), Number(fields[1])].some((one) => one === process.pid || roots.includes(one))) continue
      const { user, system } = times.get(name) ?? { user: 0, system: 0 }
      times.set(name, {
        user: user + Number(fields[11]) * TICK_US,
        system: system + Number(fields[12]) * TICK_US,
      })
    } catch {
      // It has just ended.
    }
  }
  return times
}

try {
  const sink = await startSmtpSink()
  const service = await openService({
    postgres: PG_STAT_STATEMENTS,
    flags: [
      ...(options.flags?.split(' ') ?? []).filter((flag) => flag !== ''),
      ...(options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []),
    ],
  })
  await service.sql`create extension pg_stat_statements`
  await service.start('relay', { settings: await metricsOf() })
  if (options['operator-dkim']) {
    await service.core.domains.add({ accountId: service.accountId, name: 'operator.example', state: 'active' })
  }
  if (options.ed25519) await signWithEd25519(service, service)
  const settings: Record<string, string> = options['operator-dkim'] ? { OPERATOR_DKIM_DOMAIN: 'operator.example' } : {}
  if (!options.accept)
    await service.start('delivery', { sinkPort: sink.port, settings: { ...settings, ...(await metricsOf()) } })
  const load = {
    port: service.relayPort,
    from: `desk@${service.domain}`,
    sessions: options.one ? 1 : OCTETS < 50_000 ? 50 : 10,
    octets: OCTETS,
    kept: true,
  }
  if (options.waiting) await fillQueue(service)
  for (const messages of [Math.round(MESSAGES / 3), MESSAGES]) {
    await service.sql`select pg_stat_statements_reset()`
    const countedBefore = await countsOf(ports)
    const [arrived, before, began] = [sink.count(), processorTime(service.roots()), performance.now()]
    for (let rest = options.one ? messages : 0; rest > 0; rest--) {
      await smtpSource(load, 1)
      if (!options.accept) await until('its arrival', () => sink.count() - arrived > messages - rest)
      await pause(20)
    }
    if (!options.one) await smtpSource(load, messages)
    if (!options.accept) await until('the last message', () => sink.count() - arrived >= messages)
    const seconds = (performance.now() - began) / 1000
    const after = processorTime(service.roots())
    const counted = await countsOf(ports)
    const statements = await slowestStatements(service.sql, messages)
    if (!options.waiting && !options.accept) await service.drained(messages)
    process.stdout.write(`${Math.round(messages / seconds)} messages/s; µs a message:`)
    for (const [name, { user, system }] of after) {
      const [userBefore, systemBefore] = [before.get(name)?.user ?? 0, before.get(name)?.system ?? 0]
      const [own, all] = [user - userBefore, user + system - userBefore - systemBefore]
      process.stdout.write(` ${name} ${(all / messages).toFixed(1)} (${(own / messages).toFixed(1)} user),`)
    }
    process.stdout.write(`\n${statements.join('\n')}\n`)
    if (options.metrics)
      process.stdout.write(`counts a message: ${((counted - countedBefore) / messages).toFixed(1)}\n`)
  }
  await service.close()
  await sink.stop()
} finally {
  await stopAll()
}

function readMetrics(port: number): Promise<string> {
  return fetch(`http://127.0.0.1:${port}/metrics`)
    .then((answer) => answer.text())
    .catch(() => '')
}

/**
 * How often the processes have counted or observed anything, at most: a counter may have been raised by more than one at once. With the time
 * of a count (bench/metrics.ts) it tells what metrics cost, however busy the machine is.
 */
async function countsOf(ports: readonly number[]): Promise<number> {
  const texts = await Promise.all(ports.map(readMetrics))
  return texts.reduce((sum, text) => {
    const samples = text.matchAll(/^postrider_\w+(?:_total|_count)(?:\{[^}]*\})? (\S+)$/gm)
    return [...samples].reduce((total, [, value]) => total + Number(value), sum)
  }, 0)
}

/** The setting of a process with metrics, which are read from now on. */
async function metricsOf(): Promise<Record<string, string>> {
  if (!options.metrics) return {}
  const port = await freePort()
  ports.push(port)
  setInterval(() => void readMetrics(port), 5000).unref()
  return { METRICS_PORT: String(port) }
}
