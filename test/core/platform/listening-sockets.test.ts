import { once } from 'node:events'
import { BoundSocket, connect } from 'node:net'
import { inheritedSockets } from '@postrider/core'
import t, { type Test } from 'tap'
import { openRaw } from '../../api/raw.ts'
import { startProcess } from '../../helpers/processes.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { SmtpClient } from '../../helpers/smtp-client.ts'
import { until } from '../../helpers/until.ts'

/** So that a failure takes seconds. */
const soon = () => ({ signal: AbortSignal.timeout(60_000) })

function bound(t: Test): { socket: BoundSocket; port: number } {
  const socket = new BoundSocket({ host: '127.0.0.1' })
  t.teardown(() => socket.close())
  return { socket, port: socket.address().port }
}

/** What a server says first, however long that takes. */
async function greeting(port: number): Promise<string> {
  const client = connect(port, '127.0.0.1')
  const [octets] = await once(client, 'data', soon())
  client.destroy()
  return String(octets)
}

t.test(
  'the API listens on a socket that it was given; while it is away, connections wait for the next one',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const { socket, port } = bound(t)
    const env = { ...service.env, API_PORT: '1', API_HOST: 'localhost' }
    const start = () => startProcess(t, 'api', env, { api: socket })
    const send = () =>
      fetch(`http://127.0.0.1:${port}/v2/sendEmail`, {
        method: 'POST',
        headers: { api_key: sender.apiKey, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify(v2Body(sender)),
      })
    const first = await start()
    t.equal((await send()).status, 200)

    first.kill('SIGKILL')
    await first.exited
    let answered = false
    const waiting = send().finally(() => (answered = true))
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.notOk(answered)
    const second = await start()
    t.equal((await waiting).status, 200)

    const open = connect(port, '127.0.0.1')
    await once(open, 'connect')
    await until('the connection to be accepted', async () => (await send()).status === 200)
    second.kill('SIGTERM')
    await until('stopping', () => second.log.some(({ msg }) => msg === 'stopping'))
    open.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
    const [answer] = await once(open, 'data', soon())
    t.match(String(answer), /^HTTP\/1.1 200 OK\r\n.*\r\nconnection: close\r\n/is, 'an open connection is still served')
    t.equal(await second.exited, 0)
  },
)

t.test(
  'an API that was replaced serves every call whose first octets it has, however late the rest comes',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const { socket, port } = bound(t)
    const base = `http://127.0.0.1:${port}`
    const api = await startProcess(t, 'api', service.env, { api: socket }, { supervised: true })
    const [late, unused] = await Promise.all([openRaw(t, base), openRaw(t, base)])
    await until('both to be accepted', async () => (await fetch(`${base}/health/live`)).status === 200)
    const json = JSON.stringify(v2Body(sender))
    await late.send(`POST /v2/sendEmail HTTP/1.1\r\nHost: a\r\napi_key: ${sender.apiKey}\r\n`)
    api.tell('replaced')
    await until('stopping', () => api.log.some(({ msg }) => msg === 'stopping'))
    await until('the end of the unused connection', () => unused.closed)
    await late.send(`Content-Length: ${json.length}\r\n\r\n${json}`)
    await until('the end of the connection', () => late.closed)
    t.strictSame(late.statuses, [200])
    t.match(late.text, /^connection: close\r$/im)
    t.equal(await api.exited, 0)
  },
)

t.test('relay and returns listen on the sockets they were given, and sessions in progress go on', async (t) => {
  const service = await makeService(t)
  const [plain, secure, reports] = [bound(t), bound(t), bound(t)]
  const relay = await startProcess(t, 'relay', service.env, { relay: plain.socket, 'relay-tls': secure.socket })
  const returns = await startProcess(t, 'returns', service.env, { returns: reports.socket })
  t.match(await greeting(plain.port), /^220 /)
  t.match(await greeting(reports.port), /^220 /)

  const client = await SmtpClient.connect(t, { port: plain.port })
  await client.reply()
  relay.kill('SIGTERM')
  await until('stopping', () => relay.log.some(({ msg }) => msg === 'stopping'))
  t.match(await client.command('EHLO a.example'), /^250-/)
  t.match(await client.reply(), /^421 /, 'one that pauses is ended')
  t.equal(await relay.exited, 0)
  t.equal(await returns.stop(), 0)
})

t.test('sockets of another process are left alone', (t) => {
  const env = { LISTEN_FDS: '2', LISTEN_FDNAMES: 'relay:relay-tls', LISTEN_PID: '7' }
  const address = { host: '127.0.0.1', port: 2525 }
  const target = (variables: Record<string, string>, pid: number, supervised = false) =>
    inheritedSockets(variables, { pid, supervised }).target('relay', address.host, address.port)
  t.strictSame(target(env, 7), { fd: 3 })
  t.strictSame(target(env, 8), address)
  t.strictSame(target(env, 8, true), address)
  t.strictSame(target({ ...env, LISTEN_PID: '' }, 7), address)
  t.strictSame(target({ ...env, LISTEN_PID: '' }, 7, true), { fd: 3 })
  t.strictSame(target({}, 7, true), address)
  t.equal(inheritedSockets(env, { pid: 7, supervised: false }).fd('relay-tls'), 4)
  t.end()
})

t.test('sockets without a name of ours, and two of one name, are refused', (t) => {
  const read = (names?: string) => () =>
    inheritedSockets(
      { LISTEN_FDS: '2', LISTEN_PID: '7', ...(names === undefined ? {} : { LISTEN_FDNAMES: names }) },
      { pid: 7, supervised: false },
    )
  t.throws(read('api:postrider.socket'), /^LISTEN_FDNAMES must have one of these names .*\(got "postrider\.socket"\)/)
  t.throws(read('api'), /got ""/)
  t.throws(read(), /got ""/)
  t.throws(read('api:api'), /each name once \(got "api" twice\)/)
  t.end()
})
