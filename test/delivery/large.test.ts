import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import t from 'tap'
import { until } from '../helpers/until.ts'
import { startOutboxProcess } from './outbox.ts'
import { startRawServer } from './raw-server.ts'

/** 30 MB of it are the thread that writes large letters, by itself. */
const MOST_KIB = 430 * 1024

interface Arrival {
  readonly to: string
  readonly octets: number
  /** Of the last so many octets, as many as the test asked for. */
  readonly tail: string
}

/** Takes messages of any size at the price of their octets, where the scripted host would search them again and again. */
function takeBulk(socket: Socket, arrivals: Arrival[], tailOctets: () => number, mayReply: () => Promise<void>): void {
  let chunks: Buffer[] | undefined
  let last = ''
  let to = ''
  socket.write('220 bulk.test\r\n')
  socket.on('data', (chunk: Buffer) => {
    if (!chunks) {
      for (const line of chunk.toString('latin1').trimEnd().split('\r\n')) {
        if (line.startsWith('RCPT')) to = /<(.*)>/.exec(line)?.[1] ?? ''
        if (line === 'DATA') chunks = []
        socket.write(line === 'DATA' ? '354 go ahead\r\n' : '250 ok\r\n')
      }
      return
    }
    chunks.push(chunk)
    last = (last + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
    if (last !== '\r\n.\r\n') return
    const data = Buffer.concat(chunks).subarray(0, -3)
    chunks = undefined
    last = ''
    arrivals.push({ to, octets: data.length, tail: hash(data.subarray(data.length - tailOctets())) })
    void mayReply().then(() => socket.write('250 2.0.0 taken\r\n'))
  })
}

function hash(octets: Buffer): string {
  return createHash('sha256').update(octets).digest('hex')
}

/** A MIME message of about so many octets that does not compress. */
function bulkyMessage(domain: string, octets: number): string {
  const lines = randomBytes(Math.floor(octets * 0.73))
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n')
  return `From: desk@${domain}\r\nSubject: Plans\r\nMIME-Version: 1.0\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`
}

const arrivals: Arrival[] = []
let tailOctets = 0
let mayReply = Promise.resolve()
const server = await startRawServer(t, { keep: false }, (socket) =>
  takeBulk(
    socket,
    arrivals,
    () => tailOctets,
    () => mayReply,
  ),
)
const outbox = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${server.port}` })
const { domain } = outbox.sender
const relay = await outbox.openRelay(t)

/** The most memory the worker ever had, in KiB. */
function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${outbox.worker.pid}/status`, 'utf8'))?.[1])
}

async function arrived(count: number): Promise<Arrival[]> {
  await until(`${count} arrivals`, () => arrivals.length >= count, 50_000)
  return arrivals.splice(0)
}

t.test('a relayed message of 25 MB arrives octet for octet', async (t) => {
  const raw = bulkyMessage(domain, 25_000_000)
  tailOctets = raw.length
  const id = await relay.submit(`desk@${domain}`, 'a@harbor.example', raw)
  t.match(await arrived(1), [{ to: 'a@harbor.example', tail: hash(Buffer.from(raw)) }])
  await outbox.inState(id, 'delivered')
  t.ok(peakMemory() < MOST_KIB, `${peakMemory()} KiB`)
  t.comment(`figures: ${peakMemory()} KiB`)
})

t.test('a relayed message of 10 MB arrives at each of twenty recipients', async (t) => {
  const raw = bulkyMessage(domain, 10_000_000)
  tailOctets = raw.length
  const recipients = Array.from({ length: 20 }, (_, at) => `r${at}@harbor.example`)
  await relay.submit(`desk@${domain}`, recipients, raw)
  const found = await arrived(20)
  t.strictSame(found.map(({ to }) => to).sort(), [...recipients].sort())
  t.ok(found.every(({ tail }) => tail === hash(Buffer.from(raw))))
  t.ok(peakMemory() < MOST_KIB, `${peakMemory()} KiB`)
  t.comment(`figures: ${peakMemory()} KiB`)
})

t.test('a composed message of 10 MB arrives at each of twenty recipients', async (t) => {
  const file = randomBytes(7_300_000)
  const recipients = Array.from({ length: 20 }, (_, at) => `c${at}@harbor.example`)
  tailOctets = 1_000_000
  await outbox.send('', {
    personalizations: recipients.map((recipient) => ({ recipient })),
    attachments: [{ fileName: 'plan.pdf', fileContent: file.toString('base64') }],
  })
  const found = await arrived(20)
  t.strictSame(found.map(({ to }) => to).sort(), [...recipients].sort())
  t.ok(found.every(({ octets }) => octets > 9_900_000))
  t.ok(peakMemory() < MOST_KIB, `${peakMemory()} KiB`)
  t.comment(`figures: ${peakMemory()} KiB`)
})

t.test(
  'relayed messages of 10 MB that are added to, be it text or files, arrive at each of eight recipients',
  async (t) => {
    const on = 'X-SETTINGS: {"opentrack":1,"clicktrack":1,"unsubscribe":1}\r\n'
    const html = Buffer.alloc(7_300_000, '<p>x <a href="https://quay.example/a">y</a> ü</p>\n').toString('base64')
    const lines = html.replace(/.{76}/g, '$&\r\n')
    const type = 'MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n'
    const text = `From: desk@${domain}\r\nSubject: Plans\r\n${on}${type}\r\n${lines}\r\n`
    const bulky = bulkyMessage(domain, 10_000_000)
    const part = bulky.slice(bulky.indexOf('Content-Type'))
    const head = `From: desk@${domain}\r\nSubject: Plans\r\n${on}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
    const files = `${head}--b\r\n\r\nhttps://quay.example/a\r\n--b\r\n${part}\r\n--b--\r\n`
    const recipients = Array.from({ length: 8 }, (_, at) => `t${at}@harbor.example`)
    for (const raw of [text, files]) {
      tailOctets = raw === files ? 9_000_000 : 0
      await relay.submit(`desk@${domain}`, recipients, raw)
      const found = await arrived(8)
      t.strictSame(found.map(({ to }) => to).sort(), [...recipients].sort())
      t.ok(found.every(({ octets }) => octets > raw.length))
      t.ok(found.every(({ tail }) => tail === hash(Buffer.from(raw.slice(raw.length - tailOctets)))))
      t.ok(peakMemory() < MOST_KIB, `${peakMemory()} KiB`)
      t.comment(`figures: ${peakMemory()} KiB`)
    }
  },
)

t.test(
  'ten messages of 20 MB at once all arrive, although the server is silent at the final dot of each',
  async (t) => {
    tailOctets = 0
    const silence = Promise.withResolvers<void>()
    mayReply = silence.promise
    const raw = bulkyMessage(domain, 20_000_000)
    for (let at = 0; at < 10; at++) await relay.submit(`desk@${domain}`, `m${at}@harbor.example`, raw)
    t.equal(new Set((await arrived(10)).map(({ to }) => to)).size, 10)
    silence.resolve()
    t.ok(peakMemory() < MOST_KIB, `${peakMemory()} KiB`)
    t.comment(`figures: ${peakMemory()} KiB`)
  },
)
