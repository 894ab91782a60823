const BLOCK = 64 * 1024

/**
 * Pieces of about 64 KiB that begin where a line does, for work that goes line by line: dots are stuffed, signatures
 * computed and sockets fed without a second copy of a large message. A piece is longer where a line is.
 */
export function* lineBlocks(message: Buffer): Generator<Buffer> {
  let start = 0
  while (start < message.length) {
    const end = message.length - start <= BLOCK ? message.length : endOfBlock(message, start)
    yield message.subarray(start, end)
    start = end
  }
}

function endOfBlock(message: Buffer, start: number): number {
  const before = message.lastIndexOf('\r\n', start + BLOCK - 2)
  if (before >= start) return before + 2
  const after = message.indexOf('\r\n', start + BLOCK - 1)
  return after === -1 ? message.length : after + 2
}
