import { openDatabase } from '../../packages/core/src/platform/database/database.ts'
import { sharedClock } from '../harness/shared-clock.ts'
import { startBareServer } from './bare-server.ts'
import { groupedStore, writeAndNotify } from './bare-store.ts'

/**
 * What a durable accept over SMTP takes at least if a sender is to know of it: smtp-server that answers after the commit of a message's octets and a
 * notification. `bare-relay.ts PORT DATABASE_URL [steps]`: with steps it prints after each message when it had all of it and when its commit.
 */
const [, , port, url = '', steps] = process.argv
const sql = openDatabase({ url, name: 'bare-relay', connections: 2 })
const store = groupedStore(sql, writeAndNotify)
startBareServer(Number(port), (stream, _session, callback) => {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('end', () => {
    const whole = sharedClock()
    store({ content: Buffer.concat(chunks), from: '', to: '', subject: '' }).then(() => {
      const committed = sharedClock()
      callback()
      if (steps) process.stdout.write(`${JSON.stringify({ whole, committed })}\n`)
    }, callback)
  })
})
