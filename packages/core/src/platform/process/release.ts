/**
 * Releases the memory of a buffer that is no longer used. V8 collects memory outside its heap only after 64 MB per
 * thread, which doubled the memory of a worker with large messages. Memory shared with other buffers is kept.
 */
export function release(octets: Buffer): void {
  const { buffer } = octets
  if (buffer instanceof ArrayBuffer && octets.byteLength === buffer.byteLength) buffer.transfer(0)
}
