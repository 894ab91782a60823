import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import dnsPacket, { type Answer, type DecodedPacket } from 'dns-packet'
import t, { type Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { startSink } from '../helpers/sink.ts'
import { type Outbox, startOutbox } from './outbox.ts'

/** What the server says to a question; a Buffer is sent as it is. Undefined: the name does not exist. */
type Says = (type: string, query: DecodedPacket) => readonly Answer[] | Buffer | undefined

const TRUNCATED = 1 << 9
const REFUSED = 5
const NXDOMAIN = 3
const zones: Record<string, Says> = {}

function answer(query: DecodedPacket, answers: readonly Answer[], flags: number): Buffer {
  return dnsPacket.encode({
    type: 'response',
    id: query.id as number,
    flags: dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | flags,
    questions: query.questions ?? [],
    answers: [...answers],
  })
}

function say(packet: Buffer): Buffer {
  const query = dnsPacket.decode(packet)
  const question = query.questions?.[0]
  const found = zones[question?.name.toLowerCase() ?? '']?.(question?.type ?? '', query)
  return Buffer.isBuffer(found) ? found : answer(query, found ?? [], found ? 0 : NXDOMAIN)
}

/** A DNS server of any manners, on UDP and TCP. Over TCP the answers are whole. */
async function startOddDns(t: Test): Promise<string> {
  const [port = 0] = await freePorts(1)
  const udp = createSocket('udp4')
  udp.on('message', (packet, from) => {
    const reply = say(packet)
    const query = dnsPacket.decode(packet)
    udp.send(reply.length > 1232 ? answer(query, [], TRUNCATED) : reply, from.port, from.address)
  })
  const tcp = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const reply = say(chunk.subarray(2))
      socket.write(Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 255]), reply]))
    })
  })
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => tcp.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    udp.close()
    tcp.close()
  })
  return `127.0.0.1:${port}`
}

const sink = await startSink(t, { host: '127.8.0.1' })
const outbox: Outbox = await startOutbox(t, {
  DELIVERY: 'mx',
  MX_PRIVATE_NETWORKS: 'allow',
  DNS_SERVERS: await startOddDns(t),
  MX_PORT: String(sink.port),
})

const ttl = 1
const address = (name: string, type: string): Answer[] => (type === 'A' ? [{ type, name, ttl, data: sink.host }] : [])
zones['good.example'] = (type) => address('good.example', type)

const DELIVERED: Readonly<Record<string, Record<string, Says>>> = {
  'is an alias of a domain with MX records': {
    'alias.example': (type) => [
      { type: 'CNAME', name: 'alias.example', ttl, data: 'target.example' },
      ...(type === 'MX'
        ? [{ type: 'MX' as const, name: 'target.example', ttl, data: { preference: 10, exchange: 'good.example' } }]
        : []),
    ],
  },
  'is an alias of a host without MX records': {
    'alias-host.example': (type) => [
      { type: 'CNAME', name: 'alias-host.example', ttl, data: 'good.example' },
      ...address('good.example', type),
    ],
  },
  'has so many MX records that the answer comes over TCP': {
    'many.example': (type) =>
      type === 'MX'
        ? Array.from({ length: 1000 }, (_, at) => ({
            type,
            name: 'many.example',
            ttl,
            data: { preference: at, exchange: at === 0 ? 'good.example' : `h${at}.example` },
          }))
        : [],
  },
}

for (const [what, zone] of Object.entries(DELIVERED)) {
  t.test(`mail to a domain that ${what} is delivered`, async (t) => {
    Object.assign(zones, zone)
    const [domain = ''] = Object.keys(zone)
    await outbox.inState(await outbox.send(`a@${domain}`), 'delivered')
    t.ok(sink.messages.some(({ to }) => to.includes(`a@${domain}`)))
  })
}

const MALFORMED: Readonly<Record<string, Says>> = {
  'refuses to answer': (_type, query) => answer(query, [], REFUSED),
  'is not implemented': (_type, query) => answer(query, [], 4),
  'answers with a broken packet': (_type, query) => answer(query, [], 0).subarray(0, 14),
  'answers with another id': (_type, query) => answer({ ...query, id: ((query.id ?? 0) + 1) & 0xffff }, [], 0),
  'answers another question': (_type, query) =>
    answer({ ...query, questions: [{ type: 'MX', name: 'other.example' }] }, [], 0),
}

for (const [at, [what, says]] of Object.entries(MALFORMED).entries()) {
  t.test(`a name server that ${what} defers the mail and bounces none`, async (t) => {
    const domain = `odd${at}.example`
    zones[domain] = says
    const delivery = await outbox.inState(await outbox.send(`a@${domain}`), 'deferred')
    t.match(delivery.attempts, [{ stage: 'mx', code: 451, enhanced: '4.4.3' }])
  })
}

t.test('mail to an alias that leads round in a circle bounces with 5.1.2', async (t) => {
  zones['ring1.example'] = () => [
    { type: 'CNAME', name: 'ring1.example', ttl, data: 'ring2.example' },
    { type: 'CNAME', name: 'ring2.example', ttl, data: 'ring1.example' },
  ]
  const delivery = await outbox.attempted(await outbox.send('a@ring1.example'))
  t.match(delivery.attempts, [{ stage: 'mx', enhanced: '5.1.2' }])
})
