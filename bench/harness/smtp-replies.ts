import type { Socket } from 'node:net'

/** The replies of a server, one after another, with all their lines. */
export function smtpReplies(socket: Socket): () => Promise<string> {
  let text = ''
  let wake = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    wake()
  })
  socket.on('close', () => {
    text += '421 closed\r\n'
    wake()
  })
  return async () => {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(text)
      if (whole) {
        text = text.slice(whole[0].length)
        return whole[0]
      }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
}

/** Throws unless the reply begins with this code. */
export async function expectReply(reply: Promise<string>, code: string): Promise<void> {
  const text = await reply
  if (!text.startsWith(code)) throw new Error(`expected ${code}, got ${text.trim()}`)
}
