import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { HttpCall } from '../harness/calls.ts'
import { repliesOf } from '../harness/replies.ts'

/**
 * HTTP clients that send the calls of a file in turn, on kept connections and as fast as they are answered: autocannon sends one body only, or takes
 * longer to write each call than the service takes to answer it. Prints one JSON object: seconds. Ends with an error if a call is refused.
 */
interface Order {
  readonly port: number
  readonly connections: number
  /** How many calls in all. */
  readonly messages: number
  /** The number of the first call. */
  readonly first: number
  /** What stands in a body for the number of the call. */
  readonly number: string
  /** A file with a JSON array of HttpCall. */
  readonly calls: string
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order
const calls = (JSON.parse(readFileSync(order.calls, 'utf8')) as HttpCall[]).map(written)
let sent = 0

const began = performance.now()
await Promise.all(Array.from({ length: order.connections }, (_none, first) => client(first)))
process.stdout.write(JSON.stringify({ seconds: (performance.now() - began) / 1000 }))

/** The octets of a call before and after each number. */
function written({ path, headers, body }: HttpCall): string[] {
  const fields = Object.entries({ host: 'bench.test', ...headers, 'content-length': String(Buffer.byteLength(body)) })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `POST ${path} HTTP/1.1\r\n${head}\r\n${body}`.split(order.number)
}

async function client(first: number): Promise<void> {
  const socket = await open()
  const answer = repliesOf(socket, 'closed\r\ncontent-length: 0\r\n\r\n', lengthOf)
  for (let at = first; sent < order.messages; at += order.connections) {
    const number = String(order.first + sent++).padStart(order.number.length, '0')
    socket.write((calls[at % calls.length] as string[]).join(number))
    const text = await answer()
    if (!/^HTTP\/1\.1 20[02] /.test(text)) throw new Error(`refused: ${text.slice(0, 1000)}`)
  }
  socket.end()
}

/** The length of the first answer, which must have a content-length. */
function lengthOf(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  if (length === undefined) throw new Error(`an answer without length: ${text.slice(0, 1000)}`)
  const end = head + 4 + Number(length)
  return text.length >= end ? end : undefined
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}
