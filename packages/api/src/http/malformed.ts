import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorName } from '@postrider/core'
import { failure } from '../v2/envelope.ts'
import type { ErrorEntry } from '../v3/refusal.ts'

/** Errors of the HTTP parser (RFC 9110 15.5, RFC 6585 5); all others mean malformed HTTP. */
const PARSER_ERRORS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headerTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
}

type Answer = ServerResponse<IncomingMessage>

export interface MalformedRefusal {
  readonly handler: (error: Error & { code?: string; rawPacket?: unknown }, socket: Socket) => void
  /** Tracks the responses in progress on each connection. */
  watch(server: Server): void
}

/**
 * Rejects requests that are not HTTP, arrive too slowly or have too large a header, and closes the connection. A complete call
 * received earlier on the same connection is answered first. Otherwise the client would take the error for that call's response,
 * although its message is stored.
 */
export function refuseMalformed(): MalformedRefusal {
  const underWay = new WeakMap<Socket, Set<Answer>>()

  async function refuse(code: string, socket: Socket, inV3: boolean): Promise<void> {
    const whole = [...(underWay.get(socket) ?? [])].filter(({ req }) => req.complete)
    await Promise.all(whole.map((answer) => once(answer, 'close').catch(() => {})))
    // The parser reports an error again for everything that still arrives.
    if (!socket.writable) return
    const { status, v2, sentence } = ERRORS[PARSER_ERRORS[code] ?? 'httpMalformed']
    const entry: ErrorEntry = { message: sentence, field: null, help: null }
    const body = JSON.stringify(inV3 ? { errors: [entry] } : failure(v2, sentence, undefined))
    const head = `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\nconnection: close\r\n\r\n${body}`, () =>
      socket.destroy(),
    )
  }

  return {
    handler({ code = '', rawPacket }, socket) {
      if (code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
      void refuse(code, socket, isOfV3(rawPacket))
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

/** Whether the packet that the parser rejected shows a v3 path. */
function isOfV3(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && /^[A-Z]+ \/v3[/? ]/i.test(packet.toString('latin1', 0, 40))
}
