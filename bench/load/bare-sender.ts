import { generateKeyPairSync, hash, sign } from 'node:crypto'
import { openDatabase } from '../../packages/core/src/platform/database/database.ts'
import type { SmtpConnection } from '../../packages/delivery/src/smtp/connection.ts'
import { MessageOctets } from '../../packages/delivery/src/smtp/message-octets.ts'
import { HostMemory, openSession } from '../../packages/delivery/src/smtp/session.ts'
import { runTransaction } from '../../packages/delivery/src/smtp/transaction.ts'
import { sharedClock } from '../harness/shared-clock.ts'
import { STORED_CHANNEL } from './bare-store.ts'

/**
 * What a delivery takes at least: reads the bodies that it is notified of, signs them (RSA-2048, in the thread pool, with a key that is parsed once),
 * sends them with the service's own SMTP client over kept connections, and deletes each batch once it is sent. No claim, no attempt, no record
 * before end of data. `bare-sender.ts ORDER`.
 */
interface Order {
  readonly url: string
  readonly port: number
  readonly connections: number
  readonly sign: boolean
  /** Prints after each message when it was notified of, read and signed. */
  readonly steps?: boolean
}

interface Stored {
  readonly id: string
  readonly content: Buffer
}

const BATCH = 32
/** Messages that are read and not yet deleted: enough that no connection waits for a read. */
const MOST_UNDER_WAY = 3 * BATCH
const FROM = 'desk@ship.example'
const TO = 'someone@harbor.example'

const order = JSON.parse(process.argv[2] ?? '{}') as Order
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const sql = openDatabase({ url: order.url, name: 'bare-sender', connections: 4 })
const host = { host: 'sink.test', address: '127.0.0.1', port: order.port, implicitTls: false, verify: false }
const memory = new HostMemory()
const free: SmtpConnection[] = []
for (let at = 0; at < order.connections; at++)
  free.push(await openSession(host, { heloName: 'bench.test', memory, steps: [] }))
const wantConnection: ((connection: SmtpConnection) => void)[] = []
let ids: string[] = []
let underWay = 0

await sql.listen(STORED_CHANNEL, (payload) => {
  const notified = sharedClock()
  ids.push(...payload.split(' '))
  sendWaiting(notified)
})
process.stdout.write('started\n')

function sendWaiting(notified: number): void {
  while (ids.length > 0 && underWay < MOST_UNDER_WAY) {
    const batch = ids.slice(0, BATCH)
    ids = ids.slice(BATCH)
    underWay += batch.length
    void sendBatch(batch, notified).then(() => {
      underWay -= batch.length
      sendWaiting(notified)
    })
  }
}

async function sendBatch(batch: readonly string[], notified: number): Promise<void> {
  const rows = await sql<Stored[]>`select id, content from stored where id = any(${batch}::uuid[])`
  const read = sharedClock()
  const signed = await Promise.all(rows.map(({ content }) => send(content)))
  await sql`delete from stored where id = any(${batch}::uuid[])`
  if (order.steps) process.stdout.write(`${JSON.stringify({ notified, read, signed: signed[0] })}\n`)
}

/** Returns when the message was signed. Throws an Error unless it is taken. */
async function send(content: Buffer): Promise<number> {
  const head = order.sign ? await signature(content) : ''
  const signed = sharedClock()
  const connection = free.pop() ?? (await new Promise<SmtpConnection>((resolve) => wantConnection.push(resolve)))
  const message = new MessageOctets(content, { isOwn: false })
  const size = head.length + content.length
  const letter = { from: FROM, to: TO, head, size, message, utf8: false, beforeEndOfData: async () => true as const }
  const end = await runTransaction(connection, letter)
  if (end.kind !== 'reply' || end.reply.code !== 250) throw new Error(`not taken: ${JSON.stringify(end)}`)
  connection.takeSteps()
  const next = wantConnection.shift()
  if (next) next(connection)
  else free.push(connection)
  return signed
}

/** A field as long as that of the service, over the octets as they are. */
function signature(content: Buffer): Promise<string> {
  const start = content.indexOf('\r\n\r\n') + 4
  const field =
    'DKIM-Signature: v=1; a=rsa-sha256; c=simple/simple; d=ship.example; s=bench;\r\n' +
    ` bh=${hash('sha256', content.subarray(start), 'base64')};\r\n h=from:to:subject:date:mime-version:content-type; b=`
  const signed = Buffer.concat([content.subarray(0, start), Buffer.from(field)])
  return new Promise((resolve, reject) => {
    sign('sha256', signed, privateKey, (error, octets) =>
      error ? reject(error) : resolve(`${field}${octets.toString('base64')}\r\n`),
    )
  })
}
