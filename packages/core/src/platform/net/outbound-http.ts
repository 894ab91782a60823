import { Resolver } from 'node:dns'
import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import { timerDelay } from '../concurrency/timer-delay.ts'
import type { Config } from '../config/config.ts'
import { isHostName } from './host-name.ts'
import { isPrivateAddress, NetworkList } from './networks.ts'

/** A request to a host that a customer named. Neither its address nor its response can be trusted. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** Host, Content-Length, Connection and User-Agent are set by the client. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Milliseconds for DNS, connection, TLS, headers and body together; default and maximum {@link OUTBOUND_MS}. */
  readonly timeoutMs?: number
  /** Bytes of the response body that are kept; default and maximum {@link OUTBOUND_ANSWER}. */
  readonly answerLimit?: number
  /** Cancels the request with an {@link OutboundError} of kind "stopped". */
  readonly signal?: AbortSignal
}

export interface OutboundAnswer {
  /**
   * Any status. Redirects are not followed, so a 3xx is returned here and is a failure to a caller that expects 200.
   */
  readonly status: number
  readonly retryAfter: string | undefined
  /** Where a redirect leads, as the server wrote it. */
  readonly location: string | undefined
  /** The Content-Type field; empty if there is none. */
  readonly contentType: string
  /** Names and values of the header fields by turns, as they were received. */
  readonly rawHeaders: readonly string[]
  /** The raw bytes up to the limit, not decompressed. */
  readonly body: Buffer
  /** The body exceeded the size limit or the time limit. */
  readonly truncated: boolean
}

export type OutboundFailure = 'url' | 'private' | 'dns' | 'connection' | 'tls' | 'timeout' | 'answer' | 'stopped'

/**
 * No response was received. The message can be shown to the customer who named the URL: it reveals nothing about hosts
 * that they cannot reach.
 */
export class OutboundError extends Error {
  readonly kind: OutboundFailure

  constructor(kind: OutboundFailure, message: string) {
    super(message)
    this.name = 'OutboundError'
    this.kind = kind
  }
}

export interface OutboundHttp {
  /** Throws {@link OutboundError}: see {@link OutboundFailure}. */
  request(call: OutboundRequest): Promise<OutboundAnswer>
  /**
   * Returns the URL that would be requested. Makes no DNS lookup.
   *
   * Throws {@link OutboundError}: "url" if it is not an http(s) URL, has credentials or a port that is not allowed;
   * "private" if its address, in any notation, is in a blocked network.
   */
  check(url: string): URL
}

export const OUTBOUND_MS = 10_000
export const OUTBOUND_ANSWER = 64 * 1024
const MAX_URL_LENGTH = 2048
const MAX_HEADER_BYTES = 16 * 1024
const MAX_ADDRESSES = 8
/** Milliseconds to wait for the body. The status is sufficient, so a slow body is cut off. */
const BODY_MS = 2000
/** Node's default of 250 ms per address, for a host with several addresses, is too short for distant hosts. */
const ADDRESS_MS = 2500

/**
 * The only way to send requests to hosts that customers name. Connections are made only to addresses that were checked:
 * the socket gets these addresses, and the name is not resolved a second time (DNS rebinding).
 */
export function createOutboundHttp(
  config: Pick<Config, 'dnsServers' | 'outboundNetworks' | 'outboundPorts'>,
): OutboundHttp {
  const allowed = new NetworkList(config.outboundNetworks)
  const isAllowed = (address: string) => !isPrivateAddress(address) || allowed.has(address)

  function check(text: string): URL {
    const url = parse(text)
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    if (config.outboundPorts.length > 0 && !config.outboundPorts.includes(port))
      throw new OutboundError('url', `port ${port} is not allowed; allowed ports: ${config.outboundPorts.join(', ')}`)
    const host = hostOf(url)
    // The URL parser has normalized every notation of an IPv4 address (0x7f.1, 2130706433, full-width digits).
    if (isIP(host) !== 0 && !isAllowed(host)) throw privateHost()
    if (isLocalhost(host) && !LOOPBACK.some(isAllowed)) throw privateHost()
    return url
  }

  async function addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host) !== 0) return [host]
    const found = isLocalhost(host) ? LOOPBACK.filter(isAllowed) : await lookUp(host, config.dnsServers, signal)
    if (found.length === 0) throw new OutboundError('dns', 'host name has no IP address')
    // One blocked address rejects the host: a legitimate host has none.
    if (!found.every(isAllowed)) throw privateHost()
    return found.slice(0, MAX_ADDRESSES)
  }

  return {
    check,
    async request(call) {
      const url = check(call.url)
      const milliseconds = Math.min(call.timeoutMs ?? OUTBOUND_MS, OUTBOUND_MS)
      const deadline = AbortSignal.timeout(timerDelay(milliseconds))
      const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline
      const ended = () =>
        deadline.aborted
          ? new OutboundError('timeout', `no response within ${milliseconds / 1000} s`)
          : new OutboundError('stopped', 'request cancelled')
      if (signal.aborted) throw ended()
      try {
        const addresses = await addressesOf(hostOf(url), signal)
        return await exchange(url, addresses, call, signal)
      } catch (error) {
        if (signal.aborted) throw ended()
        throw error instanceof OutboundError ? error : outboundErrorOf(error as NodeJS.ErrnoException)
      }
    },
  }
}

const LOOPBACK = ['127.0.0.1', '::1']

/** RFC 6761 6.3: never sent to the DNS. */
function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function parse(text: string): URL {
  if (text.length > MAX_URL_LENGTH) throw new OutboundError('url', `must have at most ${MAX_URL_LENGTH} characters`)
  // The parser would remove tabs and line breaks and read \ as /, so that the URL checked differs from the text.
  if (/[\p{Cc}\s\\]/u.test(text))
    throw new OutboundError('url', 'must not contain spaces, control characters or backslashes')
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    throw new OutboundError('url', 'must begin with https:// or http:// and a host')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    throw new OutboundError('url', 'must not contain a user name or password')
  url.hash = ''
  const host = hostOf(url)
  if (isIP(host) === 0 && !isHostName(host)) throw new OutboundError('url', 'does not contain a valid host')
  return url
}

function hostOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

function privateHost(): OutboundError {
  return new OutboundError('private', 'host resolves to a private or otherwise blocked address')
}

/**
 * Uses c-ares instead of getaddrinfo: names whose servers do not respond would block the few threads of the libuv pool.
 */
async function lookUp(host: string, servers: readonly string[], signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2500, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  const ask = (what: 'resolve4' | 'resolve6') =>
    new Promise<string[]>((resolve, reject) =>
      resolver[what](host, (error, addresses) => (error ? reject(error) : resolve(addresses))),
    )
  try {
    const [four, six] = await Promise.allSettled([ask('resolve4'), ask('resolve6')])
    const found = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (found.length > 0) return found
    const missing = [four, six].every(
      ({ status, reason }: { status: string; reason?: NodeJS.ErrnoException }) =>
        status === 'fulfilled' || reason?.code === 'ENODATA' || reason?.code === 'ENOTFOUND',
    )
    throw new OutboundError('dns', missing ? 'host name has no IP address' : 'DNS lookup of the host name failed')
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/**
 * Maximum number of interim responses (status 1xx) before the final one (RFC 9110 15.2). The header limit applies to
 * each of them separately: a host that sent only interim responses occupied the main loop for the ten seconds of a
 * request.
 */
const MAX_INTERIM_RESPONSES = 16

function exchange(
  url: URL,
  addresses: readonly string[],
  { method, headers, body, answerLimit }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const limit = Math.min(answerLimit ?? OUTBOUND_ANSWER, OUTBOUND_ANSWER)
  const payload = body === undefined ? undefined : Buffer.from(body)
  const options: RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
    method,
    signal,
    // A new connection per request: no stale connections, and none outlives the DNS response.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    lookup: (_host, { all }, done) => {
      const found = addresses.map((address) => ({ address, family: isIP(address) }))
      if (all) done(null, found)
      else done(null, found[0]?.address ?? '', found[0]?.family)
    },
    headers: {
      'user-agent': 'Postrider',
      accept: '*/*',
      'accept-encoding': 'identity',
      ...headers,
      ...(payload ? { 'content-length': payload.length } : {}),
      connection: 'close',
    },
  }
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, options)
    request.on('error', reject)
    request.on('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new OutboundError('answer', 'server requested a protocol upgrade'))
    })
    let interim = 0
    request.on('information', () => {
      // Once only: thousands may arrive in one chunk, and each error would cost a stack trace.
      if (++interim !== MAX_INTERIM_RESPONSES + 1) return
      request.destroy()
      reject(new OutboundError('answer', 'server sent too many interim responses'))
    })
    request.on('close', () => reject(new OutboundError('connection', 'connection closed without a response')))
    request.on('response', (response) => {
      const kept: Buffer[] = []
      let size = 0
      const finish = (truncated: boolean) => {
        clearTimeout(bodyTimer)
        const { statusCode: status = 0, headers: received, rawHeaders } = response
        const contentType = received['content-type'] ?? ''
        const { location, 'retry-after': retryAfter } = received
        resolve({ status, retryAfter, location, contentType, rawHeaders, body: Buffer.concat(kept), truncated })
        request.destroy()
      }
      const bodyTimer = setTimeout(() => finish(true), BODY_MS)
      response.on('data', (chunk: Buffer) => {
        kept.push(chunk.subarray(0, limit - size))
        size += chunk.length
        if (size > limit) finish(true)
      })
      response.on('end', () => finish(false))
      response.on('error', () => finish(true))
      response.on('close', () => finish(!response.complete))
    })
    request.end(payload)
  })
}

/** Never includes the error's own text, which may contain internal addresses. */
function outboundErrorOf(error: NodeJS.ErrnoException & { errors?: readonly NodeJS.ErrnoException[] }): OutboundError {
  const code = error.code ?? error.errors?.[0]?.code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return new OutboundError('answer', 'response has too many headers')
  if (code.startsWith('HPE_')) return new OutboundError('answer', 'response is not HTTP')
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_HTTP_INVALID_HEADER_VALUE')
    return new OutboundError('url', 'header contains invalid characters')
  if (/CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|UNABLE_TO/.test(code) || code === 'EPROTO')
    return new OutboundError('tls', `could not establish a trusted TLS connection (${code})`)
  if (code === 'ECONNREFUSED') return new OutboundError('connection', 'connection refused')
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new OutboundError('connection', 'connection closed without a response')
  return new OutboundError('connection', `could not connect to host${/^E[A-Z]+$/.test(code) ? ` (${code})` : ''}`)
}
