import type { Socket } from 'node:net'

/**
 * What a server sends, one reply after another: `lengthOf` returns the length of the first whole reply in a text that has one, and `closed` is the
 * reply after the end of the connection.
 */
export function repliesOf(
  socket: Socket,
  closed: string,
  lengthOf: (text: string) => number | undefined,
): () => Promise<string> {
  let text = ''
  let wake = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    wake()
  })
  socket.on('close', () => {
    text += closed
    wake()
  })
  return async () => {
    for (;;) {
      const length = lengthOf(text)
      if (length !== undefined) {
        const whole = text.slice(0, length)
        text = text.slice(length)
        return whole
      }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
}
