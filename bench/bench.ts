import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { backlog, slowBacklog } from './cases/backlog.ts'
import { beside } from './cases/beside.ts'
import { claimFlows, claimLatency, snapshot } from './cases/claims.ts'
import { client } from './cases/client.ts'
import { underAccept } from './cases/delivery.ts'
import { endToEnd } from './cases/end-to-end.ts'
import { fairness } from './cases/fairness.ts'
import { fullQueue, manyEvents, workers } from './cases/growth.ts'
import { httpAccept } from './cases/http-accept.ts'
import { idleLatency, waitFor250 } from './cases/latency.ts'
import { manyAccounts, ordinary } from './cases/ordinary.ts'
import { queueJobs } from './cases/queue-jobs.ts'
import { returns } from './cases/returns.ts'
import { smtpAccept } from './cases/smtp-accept.ts'
import { tarpit } from './cases/tarpit.ts'
import type { Case } from './harness/context.ts'
import { type MachineFigures, measureMachine } from './harness/machine.ts'
import { drawPlot } from './harness/plot.ts'
import { ROOT, stopAll } from './harness/processes.ts'
import { type Finding, format, median, meets, targetText } from './harness/rounds.ts'
import { openService, type Part, type Service } from './harness/service.ts'
import { PG_STAT_STATEMENTS } from './harness/statements.ts'

const HELP = `npm run bench -- [options]

Measures the service against Postfix, Haraka, nodemailer and an idle Fastify, in turn, in one run, and checks after each
round that every accepted message arrived exactly once. Needs Debian's postfix package (smtp-source, smtp-sink) and root for
Postfix itself; opendkim; for Haraka: npm run bench:peers
What cannot be run is said and left out.

  --quick        a quarter of an hour: fewer seconds a round, fewer cases
  --rounds N     rounds of each contestant (3; medians are taken)
  --only A,B     only these cases
  --statements   with the ordinary cases, what the database's statements take; they take longer then
  --json         the last line is one JSON object with the ratios
  --help         this text

Results are written to bench/results as JSON and SVG.

Cases: `

const CASES: readonly Case[] = [
  smtpAccept,
  endToEnd,
  httpAccept,
  waitFor250,
  idleLatency,
  underAccept,
  snapshot,
  client,
  fullQueue,
  fairness,
  backlog,
  slowBacklog,
  tarpit,
  claimFlows,
  claimLatency,
  queueJobs,
  returns,
  manyEvents,
  workers,
  ordinary,
  manyAccounts,
  beside,
]

/** What `--json` promises to name, whether it was measured or not. */
const KEYS = [
  'smtp_accept_vs_postfix',
  'smtp_accept_conn_vs_postfix',
  'smtp_accept_100k_vs_postfix',
  'e2e_vs_postfix',
  'e2e_vs_postfix_opendkim',
  'e2e_vs_haraka',
  'http_accept_vs_noop',
  'delivery_under_accept',
  'snapshot_vs_none',
  'batch_recipients_per_s',
  'visible_vs_apart',
  'batch_messages_vs_recipients',
  'idle_latency_vs_postfix',
  'queue_1m_vs_empty',
  'max_rss_mib',
  'ordinary_tracked',
  'ordinary_webhook',
  'ordinary_template',
  'ordinary_limits',
  'ordinary_accounts',
  'beside_throttled',
  'beside_dead_webhook',
  'beside_template',
  'beside_templates',
]
const MOST_RSS_MIB = 256

process.exitCode = await main()

/** Throws a TypeError that names the argument. */
function readArguments() {
  return parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      statements: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string' },
    },
  }).values
}

async function main(): Promise<number> {
  let values: ReturnType<typeof readArguments>
  try {
    values = readArguments()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run bench -- --help lists the options.\n`)
    return 64
  }
  if (values.help) {
    process.stdout.write(`${HELP}${CASES.map(({ name }) => name).join(', ')}\n`)
    return 0
  }
  const only = values.only?.split(',')
  const unknown = only?.find((name) => !CASES.some((one) => one.name === name))
  const rounds = Number(values.rounds)
  if (unknown !== undefined || !Number.isInteger(rounds) || rounds < 1) {
    process.stderr.write(unknown ? `--only: there is no case "${unknown}"\n` : '--rounds must be a whole number\n')
    return 64
  }
  const chosen = CASES.filter(({ name, long }) => (only ? only.includes(name) : !(values.quick && long)))
  return measure(chosen, { ...values, rounds })
}

async function measure(
  chosen: readonly Case[],
  { quick, json, statements, rounds }: { quick: boolean; json: boolean; statements: boolean; rounds: number },
): Promise<number> {
  const report = (line: string): void => void process.stdout.write(`${line}\n`)
  const findings: Finding[] = []
  const failed: string[] = []
  const machine: MachineFigures[] = []
  const service = await openService(statements ? { postgres: PG_STAT_STATEMENTS } : {})
  if (statements) await service.sql`create extension pg_stat_statements`
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().then(() => process.exit(130)))
  }
  try {
    for (const { name, run } of chosen) {
      // What the case before has left in memory isn't written during this one: else the p99 of the 250 was twice as long as by itself.
      await service.sql`checkpoint`
      machine.push(reportMachine(report))
      try {
        findings.push(...(await run({ service, rounds, seconds: quick ? 3 : 8, quick, statements, report })))
      } catch (error) {
        failed.push(`${name}: ${(error as Error).message}`)
        report(`  could not be run: ${(error as Error).message}`)
        await service.reset()
      }
    }
    findings.push(...memory(service))
  } finally {
    await service.close()
    await stopAll()
  }
  machine.push(reportMachine(report))
  report(`\n${table(findings)}`)
  for (const line of failed) report(`not measured: ${line}`)
  const summary = summaryOf(findings)
  save(findings, summary, failed, machine)
  if (json) report(JSON.stringify(summary))
  return failed.length === 0 ? 0 : 1
}

/** A rate says something only beside what the machine can do at that time. */
function reportMachine(report: (line: string) => void): MachineFigures {
  const figures = measureMachine()
  report(`machine: ${figures.syncsPerSecond} fdatasync/s, ${figures.signaturesPerSecond} RSA-2048 signatures/s`)
  return figures
}

function memory(service: Service): Finding[] {
  const parts: readonly Part[] = ['relay', 'api', 'delivery', 'returns']
  const mib = Object.fromEntries(parts.map((part) => [part, [service.peakKib(part) / 1024]] as const))
  const most = Math.max(...Object.values(mib).map(([value = 0]) => value))
  const target = { sense: 'at most', value: MOST_RSS_MIB } as const
  return [
    {
      title: 'most memory of any process',
      unit: 'MiB resident',
      rounds: { postrider: [most] },
      key: 'max_rss_mib',
      target,
    },
    { title: 'most memory: relay, API, worker, returns', unit: 'MiB resident', rounds: mib },
  ]
}

function summaryOf(findings: readonly Finding[]): Record<string, number | null> {
  const value = (key: string): number | null => {
    const finding = findings.find((one) => one.key === key)
    if (!finding) return null
    const figure = finding.ratio ?? median(Object.values(finding.rounds)[0] ?? [])
    return Number.isFinite(figure) && figure > 0 ? Number(figure.toFixed(3)) : null
  }
  return Object.fromEntries(KEYS.map((key) => [key, value(key)]))
}

function table(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => {
    const { title, unit, rounds, ratio, target } = finding
    const medians = Object.entries(rounds).map(([name, values]) => `${name} ${format(median(values))}`)
    const wanted = target ? targetText(target) : ''
    const verdict = { true: 'met', false: 'MISSED', undefined: '' }[String(meets(finding))] ?? ''
    const times = Object.entries(finding.processor ?? {}).map(([name, values]) => `${name} ${format(median(values))}`)
    const shown = ratio === undefined ? '' : `${ratio.toFixed(2)} ×`
    return [title, `${medians.join(', ')} ${unit}`, times.join(', '), shown, wanted, verdict]
  })
  const lines = [
    ['case', 'medians', 'µs of processor time per message', 'ratio', 'target', ''],
    Array.from({ length: 6 }, () => '---'),
    ...rows,
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function save(
  findings: readonly Finding[],
  summary: Readonly<Record<string, number | null>>,
  failed: readonly string[],
  figures: readonly MachineFigures[],
): void {
  const folder = join(ROOT, 'bench/results')
  mkdirSync(folder, { recursive: true })
  const name = new Date().toISOString().slice(0, 19).replaceAll(':', '')
  const size = { cpu: cpus()[0]?.model, cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) }
  // Before each case, and after the last.
  const machine = { ...size, figures }
  const result = { measuredAt: new Date().toISOString(), node: process.version, machine, summary, findings, failed }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
  writeFileSync(join(folder, `${name}.svg`), drawPlot(findings))
  process.stdout.write(`\nbench/results/${name}.json, bench/results/${name}.svg\n`)
}
