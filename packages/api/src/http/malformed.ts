import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorName, type ErrorRow, ServiceError } from '@postrider/core'
import type { FastifyInstance } from 'fastify'
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

/** uri-host with a port (RFC 3986 3.2.2); empty where the target has no authority. */
const HOST = /^(?:\[[\da-f:.]{2,45}\]|[\w.~!$&'()*+,;=%-]{0,255})(?::\d{0,5})?$/i

/**
 * Refuses a request without a Host field, with several, or with one that is not a valid host, as RFC 9112 3.2 demands: a proxy and this service could
 * take each another one. The parser of Node keeps the first.
 */
export function refuseOddHosts(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, headers, httpVersion } = request.raw
    let hosts = 0
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]
      if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
    }
    const isEnough = hosts === 1 || (hosts === 0 && httpVersion === '1.0')
    if (isEnough && HOST.test(headers.host ?? '')) return done()
    reply.header('connection', 'close')
    done(new ServiceError('httpMalformed', { reason: 'not one Host field, or no host in it' }))
  })
}

/** Whether the packet that the parser rejected shows a path below the prefix. */
function shows(packet: unknown, prefix: string, publicPath: string): boolean {
  if (!Buffer.isBuffer(packet)) return false
  const [method = '', url = ''] = packet.toString('latin1', 0, 40 + publicPath.length).split(' ', 2)
  const path = withoutPublicPath(url, publicPath).toLowerCase()
  return /^[a-z]+$/i.test(method) && (path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`))
}
