import { METRIC_TABLE, type MetricRow } from '@postrider/core'
import { count, observe, startMetrics } from '../packages/core/src/platform/metrics/metrics.ts'
import { startSpan, startTrace } from '../packages/core/src/platform/tracing/tracing.ts'

/**
 * Microseconds that a count takes in a process with METRICS_PORT and in one without it, those of a scrape, and those of the spans of a message in
 * a process that does not trace. Times the counts of a message (`node bench/cpu.ts --metrics`), this is what metrics cost. `node bench/metrics.ts`
 */
const TIMES = 2_000_000

function counts(): void {
  for (let i = 0; i < TIMES / 2; i++) {
    count('attempts_total', { outcome: 'delivered', provider: 'gmail' })
    observe('attempt_seconds', 0.03, { outcome: 'delivered' })
  }
}

/** As accept.ts and attempt-trace.ts begin them: the trace, the commit, the queue and the attempt. */
function spans(): void {
  for (let i = 0; i < TIMES; i++) {
    const trace = startTrace({ name: 'accept', kind: 'server', parent: undefined })
    startSpan({ name: 'commit', kind: 'internal', parent: trace?.traceParent })?.end()
    startSpan({ name: 'queue', kind: 'internal', parent: trace?.traceParent, startedAt: i })?.end()
    startSpan({ name: 'attempt', kind: 'client', parent: trace?.traceParent, startedAt: i })?.end()
    trace?.end()
  }
}

/** Processor time of this process, in microseconds: whatever else runs on the machine is not in it. The best of five. */
async function best(act: () => unknown, times: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / times)
  }
  return least
}

const traces = await best(spans, TIMES)
const without = await best(counts, TIMES)
const metrics = await startMetrics({ process: 'delivery', version: 'bench' })
const withMetrics = await best(counts, TIMES)
/** Every series that a process has after it has seen all providers and errors. */
for (const [name, { labels, type }] of Object.entries(METRIC_TABLE) as [string, MetricRow][]) {
  if (type === 'gauge') continue
  for (let i = 0; i < 50; i++) {
    const given = Object.entries(labels).map(([label, values]) => [
      label,
      typeof values === 'number' ? `n${i}` : values[i % values.length],
    ])
    if (type === 'counter') count(name as 'takeovers_total', Object.fromEntries(given))
    else observe(name as 'claim_seconds', 1, Object.fromEntries(given))
  }
}
const SCRAPES = 200
const scrape = await best(async () => {
  for (let i = 0; i < SCRAPES; i++) await metrics.text()
}, SCRAPES)
const text = await metrics.text()
const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
console.log(`µs per count: ${without.toFixed(3)} without METRICS_PORT, ${withMetrics.toFixed(3)} with it`)
console.log(`µs per scrape of ${series} series, ${Math.round(text.length / 1000)} kB: ${Math.round(scrape)}`)
console.log(`µs for the spans of a message without OTEL_EXPORTER_OTLP_ENDPOINT: ${traces.toFixed(3)}`)
process.exit(0)
