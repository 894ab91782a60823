import { BroadcastChannel } from 'node:worker_threads'
import type { Gauge, Metric, Registry } from 'prom-client'
import { makeSums, OTHER, type Sums } from './series.ts'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRIC_TABLE,
  type MetricName,
  type MetricRow,
} from './table.ts'

/** Values of gauges at this moment, of a gauge with a label by its values; one that is undefined is left out of the response. */
export type Measured = Partial<Record<GaugeName, number | ReadonlyMap<string, number> | undefined>>

/** The metrics of a process, as Prometheus reads them. */
export interface Metrics {
  readonly contentType: string
  /** Returns all metrics in the text format of Prometheus. Gauges are read now. */
  text(): Promise<string>
  close(): void
}

export interface MetricsOptions {
  /** Name of the process: api, relay, returns or delivery. */
  readonly process: string
  readonly version: string
  readonly commit?: string | null
  readonly schema?: number
}

type Labels = Readonly<Record<string, string>>
/** A count in a thread, for its process. */
type Forwarded = readonly [name: MetricName, labels: Labels, value: number]

const PREFIX = 'postrider_'
const CHANNEL = 'metrics'
/** Milliseconds that gauges may take to be read. Scrapers wait 10 s by default. */
const MEASURE_TIMEOUT_MS = 5000

let record: ((name: MetricName, labels: Labels, value: number) => void) | undefined
const measurements = new Set<() => Measured | Promise<Measured>>()

/** Adds to a counter. Costs nothing in a process without METRICS_PORT, and 0.03 µs in one that has it. */
export function count<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
  record?.(name, labels as Labels, by)
}

/** Adds a value, such as a duration in seconds, to a histogram. Costs as little as {@link count}. */
export function observe<N extends HistogramName>(name: N, value: number, labels: LabelsOf<N>): void {
  record?.(name, labels as Labels, value)
}

/** Whether this process, or the process of this thread, has metrics. For what is only computed for them. */
export function hasMetrics(): boolean {
  return record !== undefined
}

/** Reads gauges whenever the metrics are read, until the returned function is called. */
export function measure(read: () => Measured | Promise<Measured>): () => void {
  measurements.add(read)
  return () => void measurements.delete(read)
}

/** To be called in a thread whose process has metrics: what it counts is added to those of the process. */
export function forwardMetrics(): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.unref()
  record = (name, labels, value) => channel.postMessage([name, labels, value] satisfies Forwarded)
}

/** Starts the metrics of this process, once. The library is loaded only now: that takes 45 ms. */
export async function startMetrics({ process, version, commit, schema = 0 }: MetricsOptions): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client')
  const registry: Registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry })
  const sums = new Map<MetricName, Sums>()
  const gauges = new Map<string, Gauge>()
  for (const [name, row] of Object.entries(METRIC_TABLE) as [MetricName, MetricRow][]) {
    if (row.processes && !row.processes.includes(process)) continue
    if (row.type === 'gauge') {
      const labelNames = Object.keys(row.labels)
      const gauge = new prometheus.Gauge({ name: PREFIX + name, help: row.help, labelNames, registers: [registry] })
      gauges.set(name, gauge)
    } else {
      const one = makeSums(PREFIX + name, row)
      sums.set(name, one)
      // The registry calls `name` and `get` only; its type lists classes.
      registry.registerMetric(one as unknown as Metric)
    }
  }
  record = (name, labels, value) => sums.get(name)?.add(labels, value)
  const channel = new BroadcastChannel(CHANNEL)
  channel.unref()
  const recordForwarded = ({ data }: MessageEvent): void => record?.(...(data as Forwarded))
  channel.onmessage = recordForwarded
  const info = gauges.get('build_info')
  gauges.delete('build_info')
  info?.set({ version, commit: commit ?? '', schema: String(schema), process, node: globalThis.process.version }, 1)
  forgetGauges()
  let reading: Promise<string> | undefined

  async function read(): Promise<string> {
    const results = await Promise.allSettled([...measurements].map((read) => inTime(read)))
    for (const result of results) {
      if (result.status === 'rejected') count('measurement_failures_total', {})
      for (const [name, value] of Object.entries(result.status === 'fulfilled' ? result.value : {}))
        if (value !== undefined) set(name as GaugeName, value)
    }
    const written = await registry.metrics()
    forgetGauges()
    return written
  }

  function set(name: GaugeName, value: number | ReadonlyMap<string, number>): void {
    const gauge = gauges.get(name)
    if (typeof value === 'number') {
      gauge?.set(value)
      return
    }
    const [label, bound] = Object.entries((METRIC_TABLE[name] as MetricRow).labels)[0] ?? []
    if (label === undefined || bound === undefined) throw new Error(`${name} has no label`)
    const kept = typeof bound === 'number' ? boundedTo(bound, value) : listed(bound, value)
    for (const [named, one] of kept) gauge?.set({ [label]: named }, one)
  }

  /** So that a gauge that could not be read is absent, and neither 0 nor as it was. */
  function forgetGauges(): void {
    for (const one of gauges.values()) one.reset()
    // A reset leaves 0 where there are no labels.
    for (const [name, one] of gauges) if (!hasLabels(name as GaugeName)) one.remove()
  }

  return {
    contentType: registry.contentType,
    text() {
      reading ??= read().finally(() => {
        reading = undefined
      })
      return reading
    },
    close() {
      record = undefined
      channel.close()
    },
  }
}

function hasLabels(name: GaugeName): boolean {
  return Object.keys(METRIC_TABLE[name].labels).length > 0
}

/** The first values, and the sum of all others as `other`. */
function boundedTo(bound: number, values: ReadonlyMap<string, number>): Map<string, number> {
  const kept = new Map<string, number>()
  for (const [name, value] of values) {
    const series = name !== OTHER && kept.size < bound ? name : OTHER
    kept.set(series, (kept.get(series) ?? 0) + value)
  }
  return kept
}

/** Leaves out what the table does not list, as its number of series counts on. */
function listed(names: readonly string[], values: ReadonlyMap<string, number>): [name: string, value: number][] {
  return [...values].filter(([name]) => names.includes(name))
}

async function inTime(read: () => Measured | Promise<Measured>): Promise<Measured> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('too late')), MEASURE_TIMEOUT_MS)
  try {
    return await Promise.race([read(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
