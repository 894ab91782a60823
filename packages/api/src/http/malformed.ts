import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorName, type ErrorRow } from '@postrider/core'
import { withoutPublicPath } from './public-path.ts'

/** Errors of the HTTP parser (RFC 9110 15.5, RFC 6585 5); all others mean malformed HTTP. */
const PARSER_ERRORS: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headerTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
}

/** The bodies of refusals below a prefix such as /v3. */
export interface RefusalForm {
  readonly prefix: string
  readonly bodyOf: (row: ErrorRow) => unknown
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
 * although its message is stored. A request that shows no prefix of `others`, with or without `publicPath` before it, gets the body of `form`.
 */
export function refuseMalformed(
  form: RefusalForm,
  others: readonly RefusalForm[],
  publicPath: string,
): MalformedRefusal {
  const underWay = new WeakMap<Socket, Set<Answer>>()

  async function refuse(code: string, socket: Socket, packet: unknown): Promise<void> {
    const whole = [...(underWay.get(socket) ?? [])].filter(({ req }) => req.complete)
    await Promise.all(whole.map((answer) => once(answer, 'close').catch(() => {})))
    // The parser reports an error again for everything that still arrives.
    if (!socket.writable) return
    const row = ERRORS[PARSER_ERRORS[code] ?? 'httpMalformed']
    const { status } = row
    const { bodyOf } = others.find(({ prefix }) => shows(packet, prefix, publicPath)) ?? form
    const body = JSON.stringify(bodyOf(row))
    const head = `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\nconnection: close\r\n\r\n${body}`, () =>
      socket.destroy(),
    )
  }

  return {
    handler({ code = '', rawPacket }, socket) {
      if (code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
      void refuse(code, socket, rawPacket)
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

/** Whether the packet that the parser rejected shows a path below the prefix. */
function shows(packet: unknown, prefix: string, publicPath: string): boolean {
  if (!Buffer.isBuffer(packet)) return false
  const [method = '', url = ''] = packet.toString('latin1', 0, 40 + publicPath.length).split(' ', 2)
  const path = withoutPublicPath(url, publicPath).toLowerCase()
  return /^[a-z]+$/i.test(method) && (path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`))
}
