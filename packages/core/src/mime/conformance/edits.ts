/** A replacement of octets; `start` and `end` are offsets in the message. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string | Buffer
}

/** Returns the message with these edits, which do not overlap. */
export function edited(message: Buffer, edits: readonly Edit[]): Buffer {
  let at = 0
  const pieces = edits
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .flatMap(({ start, end, text }) => {
      const kept = message.subarray(at, start)
      at = end
      return [kept, typeof text === 'string' ? Buffer.from(text, 'latin1') : text]
    })
  return Buffer.concat([...pieces, message.subarray(at)])
}
