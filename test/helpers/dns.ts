import { createSocket } from 'node:dgram'
import { createServer, type Server } from 'node:net'
import dnsPacket, { type Answer } from 'dns-packet'
import type { Test } from 'tap'
import { freePorts } from './ports.ts'

/** What the DNS knows of a name; a name that isn't there does not exist (NXDOMAIN). */
export interface Zone {
  readonly mx?: readonly (readonly [preference: number, exchange: string])[]
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
  /** Goes as several strings where it is long (RFC 1035 3.3.14). */
  readonly txt?: readonly string[]
  readonly cname?: string
  readonly ptr?: readonly string[]
  /** As in a zone file. */
  readonly tlsa?: readonly string[]
  readonly ns?: readonly string[]
  /** The server fails, or never answers. */
  readonly fails?: 'servfail' | 'silence'
}

export interface DnsServer {
  /** For DNS_SERVERS. */
  readonly address: string
  /** May be changed while the server runs. */
  readonly zones: Record<string, Zone>
  /** "MX example.org" for every question asked. */
  readonly questions: string[]
}

export interface DnsOptions {
  /**
   * Makes it a resolver that validates: it follows CNAME records, and says that its answer is authentic (AD) if the names in it are signed.
   * It also answers over TCP; over UDP it truncates an answer that has no room in a datagram of 1,232 bytes.
   */
  readonly isSigned?: (name: string) => boolean
}

const MAX_DATAGRAM = 1232
const SERVFAIL = 2
const NXDOMAIN = 3

/** A real DNS server on loopback, answering real packets. */
export async function startDns(
  t: Pick<Test, 'teardown'>,
  zones: Record<string, Zone>,
  { isSigned }: DnsOptions = {},
): Promise<DnsServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  function respond(packet: Buffer): Buffer | undefined {
    const query = dnsPacket.decode(packet)
    const question = query.questions?.[0]
    if (!question) return undefined
    questions.push(`${question.type} ${question.name}`)
    const found = resolve(zones, question.type, question.name, isSigned !== undefined)
    if (found === 'silence') return undefined
    const isSecure = isSigned !== undefined && found.names.every((name) => isSigned(name))
    return dnsPacket.encode({
      type: 'response',
      ...(query.id === undefined ? {} : { id: query.id }),
      flags:
        dnsPacket.RECURSION_DESIRED |
        dnsPacket.RECURSION_AVAILABLE |
        (isSecure && query.flag_ad ? dnsPacket.AUTHENTIC_DATA : 0) |
        found.code,
      questions: [question],
      answers: found.answers,
    })
  }
  socket.on('message', (packet, from) => {
    const response = respond(packet)
    if (!response) return
    if (isSigned === undefined || response.length <= MAX_DATAGRAM) return socket.send(response, from.port, from.address)
    const truncated = Buffer.from(response.subarray(0, MAX_DATAGRAM))
    truncated.writeUInt16BE(truncated.readUInt16BE(2) | dnsPacket.TRUNCATED_RESPONSE, 2)
    socket.send(truncated, from.port, from.address)
  })
  // A free port of UDP may be in use for TCP.
  const [own = 0] = isSigned ? await freePorts(1) : []
  await new Promise<void>((resolve) => socket.bind(own, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  const { port } = socket.address()
  if (isSigned) {
    const server = await overTcp(port, respond)
    t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())))
  }
  return { address: `127.0.0.1:${port}`, zones, questions }
}

function overTcp(port: number, respond: (packet: Buffer) => Buffer | undefined): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => {
      const response = respond(data.subarray(2)) ?? Buffer.alloc(0)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(response.length)
      socket.end(Buffer.concat([length, response]))
    })
  })
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server)))
}

interface Resolved {
  readonly code: number
  readonly answers: Answer[]
  /** The names that were looked up. */
  readonly names: readonly string[]
}

function resolve(zones: Record<string, Zone>, type: string, name: string, follows: boolean): Resolved | 'silence' {
  const zone = zones[name.toLowerCase()]
  if (zone?.fails === 'silence') return 'silence'
  if (zone === undefined) return { code: NXDOMAIN, answers: [], names: [name] }
  if (zone.fails === 'servfail') return { code: SERVFAIL, answers: [], names: [name] }
  if (!follows || zone.cname === undefined || type === 'CNAME')
    return { code: 0, answers: answersTo(type, name, zone), names: [name] }
  const next = resolve(zones, type, zone.cname, follows)
  if (next === 'silence' || next.code === SERVFAIL) return next
  return {
    code: next.code,
    answers: [...answersTo('CNAME', name, zone), ...next.answers],
    names: [name, ...next.names],
  }
}

function answersTo(type: string, name: string, zone: Zone): Answer[] {
  const ttl = 1
  if (type === 'MX')
    return (zone.mx ?? []).map(([preference, exchange]) => ({ type, name, ttl, data: { preference, exchange } }))
  if (type === 'A') return (zone.a ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'AAAA') return (zone.aaaa ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'TXT') return (zone.txt ?? []).map((text) => ({ type, name, ttl, data: strings(Buffer.from(text)) }))
  if (type === 'PTR') return (zone.ptr ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'NS') return (zone.ns ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'TLSA') return (zone.tlsa ?? []).map((text) => ({ type, name, ttl, data: tlsaOf(text) }))
  if (type === 'CNAME' && zone.cname) return [{ type, name, ttl, data: zone.cname }]
  return []
}

function strings(text: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / 255))
  return Array.from({ length: count }, (_, at) => text.subarray(at * 255, (at + 1) * 255))
}

function tlsaOf(text: string): { usage: number; selector: number; matchingType: number; certificate: Buffer } {
  const [usage, selector, matchingType, data = ''] = text.split(' ')
  return {
    usage: Number(usage),
    selector: Number(selector),
    matchingType: Number(matchingType),
    certificate: Buffer.from(data, 'hex'),
  }
}
