import type { Stoppable } from '@postrider/core'

/** Bytes of heap per occurrence in the text: a value, a member name, a parameter or a merge tag. */
const MARK = 100
/** In a form, an escape may be one of these marks, or a quote between them. */
const ESCAPE = 30
/** Bytes scanned between two pauses. */
const PIECE = 128 * 1024

/** Weights by byte. The main loop scans 30 MB, and a table takes two thirds of the time of comparisons. */
const WEIGHTS = new Uint8Array(256).fill(1)
for (const mark of Buffer.from(',:[{&=')) WEIGHTS[mark] = MARK
WEIGHTS['%'.charCodeAt(0)] = ESCAPE

/**
 * Estimates from the bytes of a body, whatever its type, how much memory it takes when parsed: 7 MB of short values take 250 MB.
 */
export function* weigh(octets: Uint8Array): Stoppable<number> {
  let weight = 0
  for (let start = 0; start < octets.length; start += PIECE) {
    const end = Math.min(start + PIECE, octets.length)
    for (let at = start; at < end; at++) weight += WEIGHTS[octets[at] as number] as number
    yield
  }
  return weight
}
