import { encodeTransfer } from '../mime/transfer.ts'
import type { AddTo } from './adder.ts'
import type { BuiltMessage } from './built-message.ts'
import { listUnsubscribe } from './compose.ts'
import { fillHtml, fillText } from './links/fill-plan.ts'
import { type MimePlan, type PlannedText, planMime } from './plan-mime.ts'

/** Plans by the parts of a loaded message. */
const plans = new WeakMap<ReadonlyMap<number, Buffer>, MimePlan>()

/**
 * Returns one recipient's copy of a MIME message with its added content. The first plain text and the first HTML part are decoded,
 * extended and encoded again; every other byte is unchanged. If there is nothing to add, the copy is the stored buffer itself.
 */
export function addToMime(parts: ReadonlyMap<number, Buffer>, to: AddTo): BuiltMessage {
  const octets = parts.get(0) as Buffer
  let plan = plans.get(parts)
  if (!plan) plans.set(parts, (plan = planMime(octets, parts.get(1), to)))
  return { octets: written(octets, plan, to), notes: plan.notes }
}

function written(octets: Buffer, plan: MimePlan, to: AddTo): Buffer {
  const unsubscribes = to.additions.unsubscribe && plan.listAt !== undefined
  if (plan.texts.length === 0 && !unsubscribes) return octets
  const out: Buffer[] = []
  let at = 0
  let link = 0
  if (unsubscribes) {
    out.push(octets.subarray(0, plan.listAt), Buffer.from(listUnsubscribe(to.links.unsubscribe())))
    at = plan.listAt as number
  }
  for (const text of plan.texts) {
    at = writeText(out, { octets, at, text, to, link })
    link += text.plan.links
  }
  out.push(octets.subarray(at))
  return Buffer.concat(out)
}

/** Writes the message up to the end of the text part. Returns the position after it. */
function writeText(
  out: Buffer[],
  { octets, at, text, to, link }: { octets: Buffer; at: number; text: PlannedText; to: AddTo; link: number },
): number {
  const { part, plan, encoding, becomesUtf8 } = text
  const filled = part.type === 'text/html' ? fillHtml(plan, to.links, link) : fillText(plan, to.links, link)
  const encoded = encodeTransfer(filled, encoding, { sevenBit: part.encoding === '' || part.encoding === '7bit' })
  const fields = new Map<string, string>()
  if (encoded.encoding !== encoding)
    fields.set('content-transfer-encoding', `Content-Transfer-Encoding: ${encoded.encoding}\r\n`)
  if (becomesUtf8) fields.set('content-type', utf8Type(part))
  let from = at
  for (const field of part.fields) {
    const changed = fields.get(field.name)
    if (changed === undefined) continue
    out.push(octets.subarray(from, field.start), Buffer.from(changed))
    fields.delete(field.name)
    from = field.end
  }
  out.push(octets.subarray(from, part.headEnd), Buffer.from([...fields.values()].join('')))
  out.push(octets.subarray(part.headEnd, part.bodyStart), encoded.octets)
  // A message ends with CRLF; within a multipart the CRLF belongs to the delimiter.
  if (part.bodyEnd === octets.length && !encoded.octets.subarray(-2).equals(CRLF)) out.push(CRLF)
  return part.bodyEnd
}

const CRLF = Buffer.from('\r\n')

function utf8Type({ type, parameters }: PlannedText['part']): string {
  const format = parameters.get('format')?.toLowerCase() === 'flowed' ? '; format=flowed' : ''
  return `Content-Type: ${type}; charset=utf-8${format}\r\n`
}
