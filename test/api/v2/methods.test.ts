import { METHODS } from 'node:http'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { call, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const key = { api_key: sender.apiKey }

t.test('every other method is refused with 405 and told which one is allowed, with any body or key', async (t) => {
  const others = METHODS.filter((method) => method !== 'POST' && method !== 'CONNECT')
  for (const method of others) {
    for (const options of [{}, { headers: { ...key, 'content-type': 'text/xml' }, body: '<x/>' }]) {
      const answer = await call(base, { method, ...options })
      t.equal(answer.headers.allow, 'POST', method)
      if (method === 'HEAD') t.equal(answer.status, 405)
      else refused(t, answer, [405, 405, 'Method not allowed'], method)
    }
  }
})

t.test('an unknown path is 404 in the same envelope, with any method, body or key', async (t) => {
  for (const path of ['/v2/nothing', '/v2', '/v2/sendEmail/1', '/v2.1/x', '/v2/%zz', '/v2/%00', '/sendEmail']) {
    for (const options of [{ method: 'GET' }, { body: '{' }, { method: 'PROPFIND' }, { method: 'PUT', headers: key }]) {
      const { status, json, headers } = await call(base, { path, ...options })
      t.equal(status, 404, path)
      t.match(headers['content-type'], /^application\/json/)
      t.strictSame(json, {
        error_info: { error_message: 'Path not found', error_code: 404 },
        message: 'Error in api call',
      })
    }
  }
})

t.test('the root leads a browser to the dashboard, and is no path for any other method', async (t) => {
  const { status, headers } = await call(base, { path: '/', method: 'GET' })
  t.equal(status, 302)
  t.equal(headers.location, '/app')
  for (const method of ['POST', 'PUT', 'PROPFIND'])
    t.equal((await call(base, { path: '/', method })).status, 404, method)
})
