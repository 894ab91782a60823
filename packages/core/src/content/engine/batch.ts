import {
  type CheckedTemplate,
  type DynamicTemplate,
  NOT_JSON,
  type Rendered,
  type RenderedOctets,
  type RenderFailure,
} from './template.ts'
import type { Order } from './thread.ts'

export type TemplateData = Readonly<Record<string, unknown>>

/**
 * Number of threads a batch may cost before the rest of it fails: then the cause is its template and not one
 * recipient's data.
 */
const MAX_STOPPED = 3
/**
 * Bytes of data sent to a thread at a time, to protect its heap from large batches; a single rendering may have more.
 */
const SLOT_DATA = 4 * 1024 * 1024
/** Maximum renderings per slot. */
const SLOT_COUNT = 200

/** The renderings that one call waits for. */
export interface Batch {
  /** The one whose turn it takes. */
  readonly who: string
  readonly order: (from: number) => Order | RenderFailure
  readonly wanted: number
  readonly rendered: Rendered[]
  checked: CheckedTemplate | undefined
  plain: string | undefined
  stopped: number
  readonly settle: PromiseWithResolvers<void>
}

export function newBatch(who: string | undefined, wanted: number, order: Batch['order']): Batch {
  return {
    who: who ?? '',
    order,
    wanted,
    rendered: [],
    checked: undefined,
    plain: undefined,
    stopped: 0,
    settle: Promise.withResolvers(),
  }
}

export function hasResult({ checked, plain }: Batch): boolean {
  return checked !== undefined || plain !== undefined
}

/** Returns the next slot of a batch: some of the data, each serialized as JSON, so that templates see only that. */
export function slotOf(template: DynamicTemplate, data: readonly TemplateData[], from: number): Order | RenderFailure {
  const { subject, html, text, listMissing = false } = template
  const slot: string[] = []
  let octets = 0
  for (let at = from; at < data.length && slot.length < SLOT_COUNT && octets < SLOT_DATA; at++) {
    const json = jsonOf(data[at])
    if (json === undefined) break
    slot.push(json)
    octets += json.length
  }
  return slot.length > 0 ? { kind: 'render', template: { subject, html, text, listMissing }, data: slot } : NOT_JSON
}

/** Undefined if the data cannot be represented in JSON, is cyclic, or exceeds the maximum string length. */
function jsonOf(data: TemplateData | undefined): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/** Fails the rendering that stopped a thread; after several such failures, the rest of the batch. */
export function failStopped(batch: Batch, failure: RenderFailure): void {
  batch.stopped++
  const last = batch.stopped < MAX_STOPPED ? batch.rendered.length + 1 : batch.wanted
  while (batch.rendered.length < last) batch.rendered.push({ kind: 'failed', failure })
}

export function toText(rendered: RenderedOctets): Rendered {
  if (rendered.kind === 'failed') return rendered
  const part = (name: 'subject' | 'html' | 'text'): string | undefined => {
    const octets = rendered.parts.get(name)
    return octets && Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('utf8')
  }
  const subject = part('subject')
  return {
    kind: 'rendered',
    subject: subject === undefined ? undefined : oneLine(subject),
    html: part('html'),
    text: part('text'),
    ...(rendered.missing ? { missing: rendered.missing } : {}),
  }
}

/** A subject has one line, whatever the data contained (V20). */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
