import { BroadcastChannel } from 'node:worker_threads'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRIC_TABLE,
  type MetricName,
  type MetricRow,
} from './table.ts'

/** Values of gauges at this moment; one that is undefined is left out of the response. */
export type Measured = Partial<Record<GaugeName, number | undefined>>

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
}

type Instrument = Counter | Gauge | Histogram
type Labels = Readonly<Record<string, string>>
/** A count in a thread, for its process. */
type Forwarded = readonly [name: MetricName, labels: Labels, value: number]

const PREFIX = 'postrider_'
const CHANNEL = 'metrics'
/** Milliseconds that gauges may take to be read. Scrapers wait 10 s by default. */
const MEASURE_TIMEOUT_MS = 5000
const OTHER = 'other'

let record: ((name: MetricName, labels: Labels, value: number) => void) | undefined
const measurements = new Set<() => Measured | Promise<Measured>>()

/** Adds to a counter. Costs nothing in a process without METRICS_PORT, and some 0.2 µs in one that has it. */
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
export async function startMetrics({ process, version }: MetricsOptions): Promise<Metrics> {
  const { default: prometheus } = await import('prom-client')
  const registry: Registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry })
  const instruments = new Map<MetricName, Instrument>()
  const types = { counter: prometheus.Counter, gauge: prometheus.Gauge, histogram: prometheus.Histogram }
  for (const [name, { type, help, labels, buckets, processes }] of Object.entries(METRIC_TABLE) as [
    MetricName,
    MetricRow,
  ][]) {
    if (processes && !processes.includes(process)) continue
    const common = { name: `${PREFIX}${name}`, help, labelNames: Object.keys(labels), registers: [registry] }
    instruments.set(name, new types[type]({ ...common, ...(buckets ? { buckets: [...buckets] } : {}) }))
  }
  const within = boundLabels()
  record = (name, labels, value) => {
    const instrument = instruments.get(name)
    if (instrument && 'observe' in instrument) instrument.observe(within(name, labels), value)
    else instrument?.inc(within(name, labels), value)
  }
  const channel = new BroadcastChannel(CHANNEL)
  channel.unref()
  channel.onmessage = ({ data }) => record?.(...(data as Forwarded))
  const info = instruments.get('build_info') as Gauge
  info.set({ version, process, node: globalThis.process.version }, 1)
  const gauges = new Map(
    [...instruments].filter(([name]) => METRIC_TABLE[name].type === 'gauge' && name !== 'build_info') as [
      string,
      Gauge,
    ][],
  )
  forgetGauges()
  let reading: Promise<string> | undefined

  async function read(): Promise<string> {
    const results = await Promise.allSettled([...measurements].map((read) => inTime(read)))
    for (const result of results) {
      if (result.status === 'rejected') count('measurement_failures_total', {})
      for (const [name, value] of Object.entries(result.status === 'fulfilled' ? result.value : {}))
        if (value !== undefined) gauges.get(name)?.set(value)
    }
    const written = await registry.metrics()
    forgetGauges()
    return written
  }

  /** So that a gauge that could not be read is absent, and neither 0 nor as it was. */
  function forgetGauges(): void {
    for (const one of gauges.values()) one.remove()
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

async function inTime(read: () => Measured | Promise<Measured>): Promise<Measured> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('too late')), MEASURE_TIMEOUT_MS)
  try {
    return await Promise.race([read(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a function that replaces values beyond the bound of a label by `other`. */
function boundLabels(): (name: MetricName, labels: Labels) => Labels {
  const seen = new Map<string, Set<string>>()
  return (name, labels) => {
    const { labels: bounds }: MetricRow = METRIC_TABLE[name]
    let bounded = labels
    for (const [label, bound] of Object.entries(bounds)) {
      const value = labels[label] ?? OTHER
      if (typeof bound === 'number' ? known(seen, `${name} ${label}`, value, bound) : bound.includes(value)) continue
      bounded = { ...bounded, [label]: OTHER }
    }
    return bounded
  }
}

function known(seen: Map<string, Set<string>>, key: string, value: string, most: number): boolean {
  const values = seen.get(key) ?? new Set()
  if (values.has(value)) return true
  if (values.size >= most) return false
  seen.set(key, values.add(value))
  return true
}
