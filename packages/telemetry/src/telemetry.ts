import { setTimeout } from 'node:timers/promises'
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A span that has ended, without the library's classes, so that a thread can post it to its process. */
export interface FinishedSpan {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits, as `parentId`, which is undefined for the first span of a trace. */
  readonly spanId: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  /** Milliseconds since 1970, with fractions, as all times of a span. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: SpanAttributes
  readonly events: readonly { readonly name: string; readonly at: number; readonly attributes: SpanAttributes }[]
  /** Why what the span describes failed; undefined if it did not. */
  readonly failure: string | undefined
}

export interface SpanExport {
  /** Queues a span. If the receiver is too slow, spans are dropped. */
  add(span: FinishedSpan): void
  /** Sends what is queued, for at most two seconds. */
  close(): Promise<void>
}

export interface SpanExportOptions {
  /** The base URL of the receiver, OTEL_EXPORTER_OTLP_ENDPOINT; spans are posted to `v1/traces` below it. */
  readonly endpoint: string
  /** Name of the process: api, relay, returns or delivery. */
  readonly process: string
  readonly version: string
  /** Called when spans were dropped because the receiver did not take them. */
  readonly onFailure: (error: Error | undefined) => void
}

/** Spans waiting for the next request, and spans in one. 2,048 spans take some 4 MB. */
const QUEUED = 2048
const BATCH = 512
/** Milliseconds between two requests, and that one may take. */
const EVERY_MS = 2000
const TIMEOUT_MS = 5000
/** Milliseconds that the end of a process waits for it. */
const CLOSE_MS = 2000

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

/**
 * Opens the export of spans by OTLP over HTTP (JSON). The library itself reads the other variables of OpenTelemetry, such as
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
 */
export function openSpanExport({ endpoint, process: name, version, onFailure }: SpanExportOptions): SpanExport {
  const url = `${endpoint}${endpoint.endsWith('/') ? '' : '/'}v1/traces`
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT_MS })
  const processor = new BatchSpanProcessor({
    exporter: {
      export(spans, finished) {
        exporter.export(spans, (result) => {
          if (result.code !== ExportResultCode.SUCCESS) onFailure(result.error)
          finished(result)
        })
      },
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: QUEUED,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: EVERY_MS,
    exportTimeoutMillis: TIMEOUT_MS,
  })
  const own = { 'service.name': 'postrider', 'service.version': version, 'postrider.process': name }
  const resource = resourceFromAttributes(own).merge(defaultResource())
  return {
    add: (span) => processor.onEnd(readable(span, resource)),
    // Failures were reported as they happened.
    close: () =>
      Promise.race([processor.shutdown().catch(() => undefined), setTimeout(CLOSE_MS, undefined, { ref: false })]),
  }
}

function readable(span: FinishedSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const contextOf = (spanId: string) => ({ traceId: span.traceId, spanId, traceFlags: TraceFlags.SAMPLED })
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => contextOf(span.spanId),
    ...(span.parentId === undefined ? {} : { parentSpanContext: { ...contextOf(span.parentId), isRemote: true } }),
    startTime: hrTime(span.startedAt),
    endTime: hrTime(span.endedAt),
    duration: hrTime(span.endedAt - span.startedAt),
    status: span.failure === undefined ? { code: SpanStatusCode.UNSET } : failed(span.failure),
    attributes: { ...span.attributes },
    links: [],
    events: span.events.map(({ name, at, attributes }) => ({ name, time: hrTime(at), attributes: { ...attributes } })),
    ended: true,
    resource,
    instrumentationScope: { name: 'postrider' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function failed(message: string) {
  return { code: SpanStatusCode.ERROR, message }
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
