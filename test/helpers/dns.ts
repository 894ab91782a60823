import { createSocket } from 'node:dgram'
import dnsPacket, { type Answer } from 'dns-packet'
import type { Test } from 'tap'

/** What the DNS knows of a name; a name that isn't there does not exist (NXDOMAIN). */
export interface Zone {
  readonly mx?: readonly (readonly [preference: number, exchange: string])[]
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
  /** Goes as several strings where it is long (RFC 1035 3.3.14). */
  readonly txt?: readonly string[]
  readonly cname?: string
  readonly ptr?: readonly string[]
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

const SERVFAIL = 2
const NXDOMAIN = 3

/** A real DNS server on loopback, answering real packets. */
export async function startDns(t: Pick<Test, 'teardown'>, zones: Record<string, Zone>): Promise<DnsServer> {
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (packet, from) => {
    const query = dnsPacket.decode(packet)
    const question = query.questions?.[0]
    if (!question) return
    questions.push(`${question.type} ${question.name}`)
    const zone = zones[question.name.toLowerCase()]
    if (zone?.fails === 'silence') return
    const code = zone === undefined ? NXDOMAIN : zone.fails === 'servfail' ? SERVFAIL : 0
    const answer = dnsPacket.encode({
      type: 'response',
      ...(query.id === undefined ? {} : { id: query.id }),
      flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | code,
      questions: [question],
      answers: code === 0 ? answersTo(question.type, question.name, zone as Zone) : [],
    })
    socket.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>((resolve) => socket.close(() => resolve())))
  return { address: `127.0.0.1:${socket.address().port}`, zones, questions }
}

function answersTo(type: string, name: string, zone: Zone): Answer[] {
  const ttl = 1
  if (type === 'MX')
    return (zone.mx ?? []).map(([preference, exchange]) => ({ type, name, ttl, data: { preference, exchange } }))
  if (type === 'A') return (zone.a ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'AAAA') return (zone.aaaa ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'TXT') return (zone.txt ?? []).map((text) => ({ type, name, ttl, data: strings(Buffer.from(text)) }))
  if (type === 'PTR') return (zone.ptr ?? []).map((data) => ({ type, name, ttl, data }))
  if (type === 'CNAME' && zone.cname) return [{ type, name, ttl, data: zone.cname }]
  return []
}

function strings(text: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(text.length / 255))
  return Array.from({ length: count }, (_, at) => text.subarray(at * 255, (at + 1) * 255))
}
