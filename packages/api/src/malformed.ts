import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { failure } from './v2/envelope.ts'

/** What never becomes a call: the parser's complaint, the status (RFC 9110 15.5, RFC 6585 5) and the sentence. */
const COMPLAINTS: Readonly<Record<string, readonly [status: string, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The header is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not come in time'],
}
const OTHER = ['400 Bad Request', 'The request is not HTTP'] as const

type Answer = ServerResponse<IncomingMessage>

export interface MalformedRefusal {
  readonly handler: (error: Error & { code?: string }, socket: Socket) => void
  /** Keeps count of the answers under way on each connection. */
  watch(server: Server): void
}

/**
 * Refuses what is not HTTP, comes too slowly or has too large a header, and closes the connection. A call that came in whole
 * before it on the same connection is answered first: the refusal would be taken for its answer, though its message is stored.
 */
export function refuseMalformed(): MalformedRefusal {
  const underWay = new WeakMap<Socket, Set<Answer>>()

  async function refuse(code: string, socket: Socket): Promise<void> {
    const whole = [...(underWay.get(socket) ?? [])].filter(({ req }) => req.complete)
    await Promise.all(whole.map((answer) => once(answer, 'close')))
    // The parser complains again about whatever still comes.
    if (!socket.writable) return
    const [status, sentence] = COMPLAINTS[code] ?? OTHER
    const body = JSON.stringify(failure(Number.parseInt(status, 10), sentence, undefined))
    const head = `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.end(`HTTP/1.1 ${status}\r\n${head}\r\nconnection: close\r\n\r\n${body}`, () => socket.destroy())
  }

  return {
    handler({ code = '' }, socket) {
      if (code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
      void refuse(code, socket)
    },
    watch(server) {
      server.on('request', ({ socket }, answer) => {
        const open = underWay.get(socket) ?? new Set()
        underWay.set(socket, open.add(answer))
        answer.once('close', () => open.delete(answer))
      })
    },
  }
}
