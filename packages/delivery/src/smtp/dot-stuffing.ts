const [LF, CR, DOT] = [10, 13, 46]
const BLOCK = 64 * 1024
const CRLF_DOT = Buffer.from('\r\n.')

/** RFC 5321 4.5.2: doubles the dot at the start of a line. Most messages have none and are returned unchanged. */
export function dotStuffed(message: Buffer): Buffer {
  return stuffed(message, true)
}

/** The same in blocks of about 64 KiB, whatever the line lengths: a large message is not copied as a whole. */
export function* stuffedBlocks(message: Buffer): Generator<Buffer> {
  let lineStarts = true
  for (let start = 0, end = 0; start < message.length; start = end) {
    end = Math.min(start + BLOCK, message.length)
    // A CRLF is not split.
    while (end < message.length && message[end - 1] === CR) end++
    yield stuffed(message.subarray(start, end), lineStarts)
    lineStarts = message[end - 1] === LF && message[end - 2] === CR
  }
}

function stuffed(octets: Buffer, lineStarts: boolean): Buffer {
  if (!(lineStarts && octets[0] === DOT) && !octets.includes(CRLF_DOT)) return octets
  const out = Buffer.allocUnsafe(octets.length + Math.ceil(octets.length / 3))
  let length = 0
  let starts = lineStarts
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] as number
    if (octet === DOT && starts) out[length++] = DOT
    out[length++] = octet
    starts = octet === LF && octets[at - 1] === CR
  }
  return out.subarray(0, length)
}
