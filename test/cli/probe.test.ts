import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'

const PROBE = 'packages/cli/src/probe.ts'

t.test('a container is healthy if the process in it is ready', async (t) => {
  const ready = await startHealth(t, 200)
  const unready = await startHealth(t, 503)
  const [closed = 0] = await freePorts(1)
  t.equal(await probe({ API_PORT: ready, HEALTH_PORT: closed }), 0, 'the API, with a setting of other processes')
  t.equal(await probe({ API_PORT: closed, HEALTH_PORT: ready }), 0, 'another process')
  t.equal(await probe({ API_PORT: unready, HEALTH_PORT: ready }), 1, 'the API that is not ready')
  t.equal(await probe({ API_PORT: closed, HEALTH_PORT: unready }), 1)
  t.equal(await probe({ API_PORT: closed, HEALTH_PORT: closed }), 1)
  t.equal(await probe({ API_PORT: closed }), 1)
  t.equal(await probe({ API_PORT: closed }, `http://127.0.0.1:${ready}/health/ready`), 0, 'a given URL')
})

async function startHealth(t: Test, status: number): Promise<number> {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/health/ready' ? status : 404).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Returns its exit status. */
function probe(settings: Record<string, number>, ...args: string[]): Promise<number> {
  const ports = Object.entries(settings).map(([name, port]) => [name, String(port)])
  const env = { ...process.env, ...BARE_ENVIRONMENT, ...Object.fromEntries(ports) }
  return new Promise((resolve) => {
    execFile(process.execPath, [PROBE, ...args], { env }, (error) => resolve(Number(error?.code ?? 0)))
  })
}
