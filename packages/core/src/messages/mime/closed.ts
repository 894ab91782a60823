import { CLOSED, DEEPEST, MOST_PARTS, parseField, partsOf, readHead } from './read.ts'

/** Signed or encrypted in one piece (RFC 8551 3.2). */
const SEALED = /^application\/(x-)?pkcs7-(mime|signature)$/

/**
 * Whether the message can be made anew from its parts without loss: nothing in it is signed, encrypted, a report or a message of
 * its own, and its structure is beyond doubt. Text with a signature within it is not looked for.
 */
export function canTakeApart(message: Buffer): boolean {
  return new Structure(message).opens(0, message.length, 0)
}

class Structure {
  readonly #message: Buffer
  #parts = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  opens(start: number, end: number, depth: number): boolean {
    if (++this.#parts > MOST_PARTS) return false
    const head = readHead(this.#message, start, end)
    const contentType = head && parseField(head.fields, 'content-type', 'text/plain')
    if (!head || !contentType) return false
    const { value, parameters } = contentType
    if (CLOSED.test(value) || SEALED.test(value)) return false
    if (!value.startsWith('multipart/')) return true
    const boundary = parameters.get('boundary')
    if (!boundary || boundary.length > 200 || depth >= DEEPEST) return false
    for (const inner of partsOf(this.#message.subarray(0, end), head.bodyStart, boundary)) {
      if (!this.opens(inner.start, inner.end, depth + 1)) return false
    }
    return true
  }
}
