import { type Served, serveOrders } from '../platform/concurrency/thread-orders.ts'
import { type AsciiHeader, asciiHeader } from './conformance/ascii-header.ts'
import { type ConformedBody, conformBody } from './conformance/body.ts'
import { hasIntactSignature } from './conformance/intact-signature.ts'
import { type SigningKeys, type VerifiedSignature, verifySignatures } from './conformance/verify-signatures.ts'
import type { MessageParts } from './message-parts.ts'
import { readParts } from './read-parts.ts'

/** A message, and what is to be done with it. Its memory belongs to the order. */
export type ReadingOrder =
  | { readonly task: 'parts'; readonly octets: Uint8Array }
  | { readonly task: 'conform'; readonly octets: Uint8Array; readonly sevenBit: boolean }
  | { readonly task: 'header'; readonly octets: Uint8Array; readonly isStrict: boolean }
  | { readonly task: 'signatures'; readonly octets: Uint8Array; readonly keys: SigningKeys }

type Read = MessageParts | ConformedBody | AsciiHeader | readonly (VerifiedSignature | undefined)[]

/** Thread that parses messages. It keeps no state between messages. */
serveOrders((order: ReadingOrder): Served<Read> | Promise<Served<Read>> => {
  const { buffer, byteOffset, length } = order.octets
  const message = Buffer.from(buffer, byteOffset, length)
  if (order.task === 'signatures')
    return verifySignatures(message, order.keys).then((answer) => ({ answer, transfer: [] }))
  if (order.task === 'header') return { answer: asciiHeader(message, order.isStrict), transfer: [] }
  return order.task === 'parts' ? partsOf(message) : conformed(message, order)
})

function conformed(message: Buffer, { sevenBit }: { readonly sevenBit: boolean }): Served<ConformedBody> {
  const answer = conformBody(message, { sevenBit, isSigned: hasIntactSignature(message) })
  if (answer.kind !== 'changed') return { answer, transfer: [] }
  const own = alone(answer.message)
  return { answer: { ...answer, message: own }, transfer: [own.buffer as ArrayBuffer] }
}

/** Copies an array that shares its buffer with others, because a transfer moves the whole buffer. */
function alone(octets: Uint8Array): Uint8Array {
  return octets.byteLength === octets.buffer.byteLength ? octets : new Uint8Array(octets)
}

function partsOf(message: Buffer): Served<MessageParts> {
  const { html, text, alternatives, files, ...parts } = readParts(message)
  const transfer: ArrayBuffer[] = []
  const detached = (octets: Uint8Array): Uint8Array => {
    const own = alone(octets)
    transfer.push(own.buffer as ArrayBuffer)
    return new Uint8Array(own.buffer)
  }
  const answer: MessageParts = {
    ...parts,
    ...(html && { html: detached(html) }),
    ...(text && { text: detached(text) }),
    alternatives: alternatives.map(({ type, text }) => ({ type, text: detached(text) })),
    files: files.map((file) => ({ ...file, content: detached(file.content) })),
  }
  return { answer, transfer }
}
