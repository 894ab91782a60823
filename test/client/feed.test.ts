import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { Postrider } from '../../packages/client/src/index.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'

t.test('the feed gives each event once, in order, waits for those to come, and goes on where one was', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const baseUrl = await service.openApi()
  let isDown = true
  // A proxy whose first answer is lost.
  const proxy = createServer((request, response) => {
    if (isDown) {
      isDown = false
      request.socket.destroy()
      return
    }
    httpRequest(`${baseUrl}${request.url}`, { headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    }).end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const { port } = proxy.address() as AddressInfo
  const postrider = new Postrider({ baseUrl: `http://127.0.0.1:${port}`, apiKey: sender.apiKey, retries: 0 })
  const send = async () => {
    await sendV2(baseUrl, sender.apiKey, v2Body(sender))
    await numberEvents(service)
  }
  for (let n = 0; n < 3; n++) await send()
  const ending = new AbortController()
  const seen: number[] = []
  let position = { after: 0, epoch: 1 }
  for await (const { number, after, epoch = 0 } of postrider.events.feed({
    signal: ending.signal,
    types: ['processed'],
  })) {
    seen.push(number)
    position = { after, epoch }
    if (seen.length === 3) void send()
    if (seen.length === 4) ending.abort()
  }
  t.strictSame(
    seen,
    [...seen].sort((a, b) => a - b),
  )
  t.equal(new Set(seen).size, 4)
  const ended = new AbortController()
  let count = 0
  for await (const _ of postrider.events.feed({ signal: ended.signal })) {
    count++
    ended.abort()
  }
  t.equal(count, 1, 'none after the end')
  await send()
  for await (const { number } of postrider.events.feed({ ...position, types: 'processed' })) {
    t.ok(number > position.after, 'the next one')
    break
  }
})

t.test('what the service refuses ends the feed', async (t) => {
  const service = await makeService(t)
  const postrider = new Postrider({ baseUrl: await service.openApi(), apiKey: (await service.makeSender()).apiKey })
  await t.rejects(postrider.events.feed({ types: 'sentt' }).next(), { code: 113, parameter: 'types' })
})
