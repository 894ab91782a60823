import { BroadcastChannel } from 'node:worker_threads'
import type { FinishedSpan, SpanAttributes } from '@postrider/telemetry'
import type { TracingConfig } from '../config/tracing.ts'
import type { Log } from '../process/log.ts'
import { programBuild } from '../process/program-version.ts'
import { newSpanId, newTraceId, parseTraceParent, type TraceParent, traceParentText } from './trace-parent.ts'

export type { SpanAttributes } from '@postrider/telemetry'

/** A part of a trace that has begun. */
export interface Span {
  /** The parent of its parts. */
  readonly traceParent: string
  end(result?: SpanResult): void
}

export interface SpanResult {
  /** Never secrets, addresses of people or content. */
  readonly attributes?: SpanAttributes
  readonly events?: FinishedSpan['events']
  /** Why it failed. */
  readonly failure?: string | undefined
  /** Milliseconds since 1970; now, if undefined. */
  readonly endedAt?: number
}

export interface SpanStart {
  readonly name: string
  readonly kind: FinishedSpan['kind']
  /** The span that it is a part of, as a `traceparent`. One that is not valid is ignored. */
  readonly parent: string | undefined
  /** Milliseconds since 1970; now, if undefined. */
  readonly startedAt?: number
}

const CHANNEL = 'spans'
/** Milliseconds between two warnings of a process that its spans are not received. */
const WARN_EVERY_MS = 60_000

type Tracing = Pick<TracingConfig, 'ratio' | 'followsCaller'>
let exported: { readonly tracing: Tracing; readonly add: (span: FinishedSpan) => void } | undefined

/** Milliseconds since 1970, with fractions. */
export const traceTime = (): number => performance.timeOrigin + performance.now()

/** Whether spans of this process are exported. For what is only computed for them. */
export function isTracing(): boolean {
  return exported !== undefined
}

/**
 * Begins a trace, or a caller's part of one, by the rule of OTEL_TRACES_SAMPLER. Returns undefined if this trace is not sampled, and in a
 * process that does not trace.
 */
export function startTrace(start: SpanStart): Span | undefined {
  if (!exported) return undefined
  const { ratio, followsCaller } = exported.tracing
  const parent = start.parent === undefined ? undefined : parseTraceParent(start.parent)
  const sampled = parent && followsCaller ? parent.sampled : Math.random() < ratio
  return sampled ? begin(start, parent) : undefined
}

/** Begins a part of a sampled trace. Returns undefined without a parent, and in a process that does not trace. */
export function startSpan(start: SpanStart): Span | undefined {
  if (!exported || start.parent === undefined) return undefined
  const parent = parseTraceParent(start.parent)
  return parent && begin(start, parent)
}

function begin({ name, kind, startedAt = traceTime() }: SpanStart, parent: TraceParent | undefined): Span {
  const traceId = parent?.traceId ?? newTraceId()
  const spanId = newSpanId()
  return {
    traceParent: traceParentText({ traceId, spanId }),
    end({ attributes = {}, events = [], failure, endedAt = traceTime() } = {}) {
      const span = { traceId, spanId, parentId: parent?.spanId, name, kind, startedAt, endedAt }
      exported?.add({ ...span, attributes, events, failure })
    },
  }
}

/** To be called in a thread whose process traces: its spans are exported by the process. */
export function forwardSpans(tracing: Tracing): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.unref()
  exported = { tracing, add: (span) => channel.postMessage(span) }
}

/**
 * Starts to export the spans of this process and its threads. The library is loaded only now. Returns a function that exports what is left
 * and ends it.
 */
export async function startTracing(
  { name, log }: { name: string; log: Log },
  tracing: TracingConfig,
): Promise<() => Promise<void>> {
  const { openSpanExport } = await import('@postrider/telemetry')
  let warnedAt = Number.NEGATIVE_INFINITY
  const spans = openSpanExport({
    endpoint: tracing.endpoint,
    process: name,
    version: programBuild().version,
    onFailure(err) {
      if (performance.now() - warnedAt < WARN_EVERY_MS) return
      warnedAt = performance.now()
      log.warn({ err }, 'could not export traces to OTEL_EXPORTER_OTLP_ENDPOINT')
    },
  })
  const channel = new BroadcastChannel(CHANNEL)
  channel.unref()
  const addSpan = ({ data }: MessageEvent): void => spans.add(data as FinishedSpan)
  channel.onmessage = addSpan
  exported = { tracing, add: spans.add }
  return async () => {
    exported = undefined
    channel.close()
    await spans.close()
  }
}
