import { Readable } from 'node:stream'

/**
 * The data of one message, as the parser passes it on. smtp-server has a PassThrough for it, and Node's Writable assigns a function to a property of
 * itself where it is written: V8 allocates such a function among the old objects, and with it stream and message were kept until the next
 * full collection. Four of those a second took a fifth of the processor time of messages of 100 kB.
 */
export class MessageStream extends Readable {
  /** Set for smtp-server, as on a stream of its own. */
  byteLength = 0
  sizeExceeded = false
  /** Whether it has been given the end of the message, which smtp-server asks for when the connection closes. */
  writableEnded = false

  override _read(): void {
    this.emit('drain')
  }

  /** Returns false if the reader should catch up first: then `drain` is emitted, or `close`. */
  write(octets: Buffer): boolean {
    return this.destroyed || this.push(octets)
  }

  end(last: Buffer | false): void {
    this.writableEnded = true
    if (this.destroyed) return
    if (last) this.push(last)
    this.push(null)
  }
}
