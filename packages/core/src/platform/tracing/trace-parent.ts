import { randomBytes } from 'node:crypto'

/** The header field by which a caller passes its trace on (W3C Trace Context, section 3.2). */
const TRACE_PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const ZEROS = /^0+$/
/** The flag that the caller has recorded its part. */
const SAMPLED = 1

export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly sampled: boolean
}

/** Reads a `traceparent`. Returns undefined if it is not valid; the standard has such a one ignored. */
export function parseTraceParent(text: unknown): TraceParent | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACE_PARENT.exec(text)) || []
  if (!traceId || !spanId || !flags || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}

/** Returns the `traceparent` of a sampled span. */
export function traceParentText({ traceId, spanId }: Omit<TraceParent, 'sampled'>): string {
  return `00-${traceId}-${spanId}-01`
}

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')
