import type { DynamicTemplate, Rendered, RenderedOctets } from './template.ts'
import type { Order } from './thread.ts'

export type TemplateData = Readonly<Record<string, unknown>>

/**
 * Bytes of data sent to a thread at a time, to protect its heap from large batches; a single rendering may have more.
 */
const SLOT_DATA = 4 * 1024 * 1024
/** Maximum renderings per slot. */
const SLOT_COUNT = 200

/** The data of a recipient cannot be written as JSON. */
export class NotJson extends Error {}

/** Returns the next slot of a batch: some of the data, each serialized as JSON, so that templates see only that. Throws NotJson. */
export function slotOf(template: DynamicTemplate, data: readonly TemplateData[], from: number): Order {
  const { subject, html, text, listNames = false } = template
  const slot: string[] = []
  let octets = 0
  for (let at = from; at < data.length && slot.length < SLOT_COUNT && octets < SLOT_DATA; at++) {
    const json = jsonOf(data[at])
    if (json === undefined) break
    slot.push(json)
    octets += json.length
  }
  if (slot.length === 0) throw new NotJson()
  return { kind: 'render', template: { subject, html, text, listNames }, data: slot }
}

/** Undefined if the data cannot be represented in JSON, is cyclic, or exceeds the maximum string length. */
function jsonOf(data: TemplateData | undefined): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
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
    ...(rendered.listed ? { listed: rendered.listed } : {}),
  }
}

/** A subject has one line, whatever the data contained (V20). */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}
