import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { written } from '@postrider/core'
import t, { type Test } from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { openDashboard } from '../dashboard/dashboard.ts'
import { until } from '../helpers/until.ts'

/** A client that sends a request and reads the beginning of its answer only. */
async function stalled(t: Test, url: string, path: string, header: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.teardown(() => socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${header}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

t.test('a body is counted against the memory budget until a slow reader has it', async (t) => {
  const { service, url, owner } = await openDashboard(t, { BODY_BUDGET_MB: '32' })
  const ada = await owner()
  const { core } = service
  const domain = 'slow.example'
  await service.giveKey(domain)
  await core.domains.add({ accountId: ada.accountId, name: domain, state: 'active' })
  const { secret: apiKey } = await core.auth.createKey({ accountId: ada.accountId })
  const sender = { accountId: ada.accountId, accountName: '', apiKey, domain }
  const { messageId } = await acceptMessage(service, sender, {
    attachments: [{ fileName: 'large.bin', type: 'application/octet-stream', content: Buffer.alloc(18 * 1024 * 1024) }],
    envelopes: [envelopeTo('lena@harbor.example')],
  })
  const v2 = `/v2/messages/${messageId}/source`
  const page = `/app/${ada.accountId}/messages/${messageId}/source`
  const ways = [
    [v2, `api_key: ${apiKey}`],
    [`/v2/messages/${messageId}/attachments/0`, `api_key: ${apiKey}`],
    [page, `cookie: ${ada.cookie}`],
  ] as const
  const status = async () => {
    const response = await fetch(`${url}${v2}`, { headers: { api_key: apiKey } })
    await response.arrayBuffer()
    return response.status
  }
  for (const [path, header] of ways) {
    await until('the memory is free', async () => (await status()) === 200)
    const socket = await stalled(t, url, path, header)
    t.equal(await status(), 503, path)
    socket.destroy()
  }
  await until('the memory is free', async () => (await status()) === 200)
})

t.test('a reader that is too slow is cut off', async (t) => {
  let ended: Promise<void> | undefined
  const server = createServer((_request, response) => {
    ended = written(response, 300)
    response.end(Buffer.alloc(40 * 1024 * 1024))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const begin = performance.now()
  const socket = await stalled(t, `http://127.0.0.1:${port}`, '/', 'a: b')
  await ended
  t.ok(performance.now() - begin >= 290)
  socket.resume()
  await once(socket, 'close')
  t.ok(socket.bytesRead < 40 * 1024 * 1024)
})
