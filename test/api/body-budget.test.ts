import t from 'tap'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { call } from './call.ts'
import { openRaw } from './raw.ts'

const service = await makeService(t, { BODY_BUDGET_MB: '64' })
const base = await service.openApi()
const sender = await service.makeSender()
const SIZE = 30 * 1024 * 1024
const json = JSON.stringify(v2Body(sender))
const head = (fields: string) =>
  `POST /v2/sendEmail HTTP/1.1\r\nHost: a\r\napi_key: ${sender.apiKey}\r\n${fields}\r\n\r\n`
const send = (body: string, apiKey = sender.apiKey) => call(base, { headers: { api_key: apiKey }, body })

t.test('what one account announces and does not send leaves room for the mail of another', async (t) => {
  const other = await service.makeSender()
  const small = JSON.stringify(v2Body(other))
  const holders = await Promise.all([10, 4, 2, 1, 0.4, 0.1, 0.02, 0.004, 0.001].map(() => openRaw(t, base)))
  let octets = SIZE
  for (const holder of holders) {
    await holder.send(`${head(`Content-Length: ${Math.ceil(octets)}`)}{`)
    octets /= 4
  }
  await until('no room for its own', async () => (await send(json)).status === 503)
  for (let call = 0; call < 5; call++) t.equal((await send(small, other.apiKey)).status, 200)
})
