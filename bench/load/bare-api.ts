import Fastify from 'fastify'
import { openDatabase } from '../../packages/core/src/platform/database/database.ts'
import { groupedStore, writeBodies, writeRows } from './bare-store.ts'

/**
 * What a durable accept over HTTP takes at least: Fastify that reads the JSON of a call as noop.ts does, and answers after the commit of its body.
 * `bare-api.ts PORT DATABASE_URL bodies|rows`.
 */
interface Call {
  readonly from: { readonly fromEmail: string }
  readonly subject: string
  readonly content: string
  readonly personalizations: readonly { readonly recipient: string }[]
}

const [, , port, url = '', rows] = process.argv
const sql = openDatabase({ url, name: 'bare-api', connections: 2 })
const store = groupedStore(sql, rows === 'rows' ? writeRows : writeBodies)
const app = Fastify({ logger: false })
app.post<{ Body: Call }>('/v2/sendEmail', async ({ body: { from, subject, content, personalizations } }) => {
  const to = personalizations[0]?.recipient ?? ''
  await store({ content: Buffer.from(content), from: from.fromEmail, to, subject })
  return { data: { message_id: '00000000000000000000000000000000' }, message: 'Success', error_info: null }
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
process.stdout.write('started\n')
