import { buildApp } from '@postrider/api'
import { createCore, createLog, openDatabase } from '@postrider/core'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { startSilentProxy } from '../helpers/silent-proxy.ts'

t.test(
  'a change whose connection to the database falls silent says that its outcome is unknown; a read says to try again',
  async (t) => {
    const service = await makeService(t)
    const { apiKey } = await service.makeSender()
    const proxy = await startSilentProxy(t, service.env.DATABASE_URL as string)
    const pool = openDatabase({ url: proxy.url, name: 'test', connections: 3 })
    t.teardown(() => pool.end({ timeout: 0 }))
    const log = createLog('test', 'silent')
    const core = createCore({ sql: pool, config: service.config, log })
    await core.readiness.check()
    t.teardown(() => core.readiness.close())
    const app = await buildApp({ core, config: service.config, log })
    t.teardown(() => app.close())
    const add = (templateName: string) =>
      app.inject({
        method: 'POST',
        url: '/v2/template',
        headers: { api_key: apiKey },
        payload: { templateName, content: 'x' },
      })
    const list = () => app.inject({ method: 'GET', url: '/v2/template', headers: { api_key: apiKey } })
    t.equal((await add('first')).statusCode, 200)
    t.equal((await list()).statusCode, 200)
    proxy.mute()
    const added = await add('second')
    proxy.mute()
    const listed = await list()
    t.equal(added.statusCode, 504)
    t.match(added.json(), {
      error_info: { error_code: 504, error_message: 'Outcome unknown: look before you repeat it' },
    })
    t.notOk(added.headers['retry-after'], 'clients that repeat by themselves do not')
    t.equal(listed.statusCode, 503)
    t.match(listed.headers['retry-after'], '1')
  },
)
