import { buildApp } from '@postrider/api'
import { createLog } from '@postrider/core'
import t from 'tap'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { call, errorText, messageIdOf } from './call.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const headers = { api_key: sender.apiKey, 'content-type': 'application/json' }
const large = v2Body(sender, { content: 'x'.repeat(400_000) })

t.test(
  'if the thread for large calls cannot start, each gets 503 and stores nothing, and small calls go on',
  async (t) => {
    // Only the thread opens a database by its address.
    const config = { ...service.config, databaseUrl: undefined }
    const app = await buildApp({ core: service.core, config, log: createLog('test', 'silent') })
    t.teardown(() => app.close())
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const refused = async () => {
      const answer = await call(url, { headers, body: large })
      t.strictSame([answer.status, errorText(answer)], [503, 'Service temporarily overloaded, try again later'])
    }
    await Promise.all([refused(), refused(), refused()])
    await refused()
    const accepted = messageIdOf(await call(url, { headers, body: v2Body(sender, {}) }))
    const stored = await service.sql<{ id: string }[]>`select replace(id::text, '-', '') as id from messages`
    t.strictSame([...stored], [{ id: accepted }])
  },
)
