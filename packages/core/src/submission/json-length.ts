import { LIMITS } from './limits.ts'

/**
 * Maximum number of bytes of a message's texts in JSON, as which they are stored: as if each byte of the largest message were a
 * quote or a line end. A control character takes six bytes; 28 MB of them made a process use more than a gigabyte.
 */
export const JSON_LIMIT = 2 * LIMITS.messageSize
/** Characters of text that may exceed the limit. Less need not be measured. */
export const MEASURED_FROM = JSON_LIMIT / 6

/** Returns the number of bytes that a text takes in JSON, without its quotes. */
export function jsonLength(text: string): number {
  let length = Buffer.byteLength(text)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22 || code === 0x5c) length++
    else if (code < 0x20) length += hasShortEscape(code) ? 1 : 5
  }
  return length
}

/** \b, \t, \n, \f and \r. */
function hasShortEscape(code: number): boolean {
  return code >= 0x08 && code <= 0x0d && code !== 0x0b
}
