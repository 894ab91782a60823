import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorName } from '@postrider/core'
import { failure } from './v2/envelope.ts'
import type { Complaint } from './v3/refusal.ts'

/** What never becomes a call: the parser's complaints (RFC 9110 15.5, RFC 6585 5). Any other: it is not HTTP. */
const COMPLAINTS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headerTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
}

type Answer = ServerResponse<IncomingMessage>

export interface MalformedRefusal {
  readonly handler: (error: Error & { code?: string; rawPacket?: unknown }, socket: Socket) => void
  /** Keeps count of the answers under way on each connection. */
  watch(server: Server): void
}

/**
 * Refuses what is not HTTP, comes too slowly or has too large a header, and closes the connection. A call that came in whole
 * before it on the same connection is answered first: the refusal would be taken for its answer, though its message is stored.
 */
export function refuseMalformed(): MalformedRefusal {
  const underWay = new WeakMap<Socket, Set<Answer>>()

  async function refuse(code: string, socket: Socket, inV3: boolean): Promise<void> {
    const whole = [...(underWay.get(socket) ?? [])].filter(({ req }) => req.complete)
    await Promise.all(whole.map((answer) => once(answer, 'close').catch(() => {})))
    // The parser complains again about whatever still comes.
    if (!socket.writable) return
    const { status, v2, sentence } = ERRORS[COMPLAINTS[code] ?? 'httpMalformed']
    const complaint: Complaint = { message: sentence, field: null, help: null }
    const body = JSON.stringify(inV3 ? { errors: [complaint] } : failure(v2, sentence, undefined))
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

/** As far as what the parser stumbled over still shows it. */
function isOfV3(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && /^[A-Z]+ \/v3[/? ]/i.test(packet.toString('latin1', 0, 40))
}
