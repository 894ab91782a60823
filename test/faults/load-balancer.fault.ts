import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Ledger } from '../helpers/ledger.ts'
import { freePorts } from '../helpers/ports.ts'
import { type ProcessName, startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

const HAPROXY = '/usr/sbin/haproxy'
/** The file that docs/high-availability.md has operators copy. */
const FILE = fileURLToPath(new URL('../../deploy/high-availability/haproxy.cfg', import.meta.url))
const HOSTS = 2
const LANES = 4

t.test(
  'behind a load balancer every process is replaced without a failed call; with none in service HTTP gets 503',
  { timeout: 300_000, skip: existsSync(HAPROXY) ? false : `${HAPROXY} is missing` },
  async (t) => {
    const service = await makeService(t)
    const [apiPort = 0, relayPort = 0, relayTlsPort = 0, ...ports] = await freePorts(3 + 4 * HOSTS)
    const hosts = Array.from({ length: HOSTS }, (_, at) => {
      const [api = 0, relay = 0, relayTls = 0, health = 0] = ports.slice(4 * at)
      return { api, relay, relayTls, health }
    })
    const file = join(mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'haproxy-')), 'haproxy.cfg')
    writeFileSync(file, configuration(hosts, { apiPort, relayPort, relayTlsPort }))
    const envOf = (at: number) => {
      const { api, relay, relayTls, health } = hosts[at] as (typeof hosts)[number]
      return {
        ...service.env,
        API_PORT: String(api),
        RELAY_PORT: String(relay),
        RELAY_TLS_PORT: String(relayTls),
        HEALTH_PORT: String(health),
        DRAIN_DELAY: '4',
        TRUST_PROXY: '127.0.0.1',
      }
    }
    const start = (name: ProcessName, at: number) => startProcess(t, name, envOf(at))
    const running = new Map<string, Awaited<ReturnType<typeof start>>>()
    for (const name of ['api', 'relay'] as const)
      for (const at of hosts.keys()) running.set(`${name} ${at}`, await start(name, at))
    const balancer = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'inherit' })
    t.teardown(() => balancer.kill('SIGKILL'))
    const ready = () =>
      fetch(`http://127.0.0.1:${apiPort}/health/ready`).then(
        ({ status }) => status,
        () => 0,
      )
    await until('the load balancer to see a host', async () => (await ready()) === 200)
    await until('its port with TLS', () => tlsGreeting(relayTlsPort))

    const ledger = new Ledger({ config: { apiPort, relayPort }, sql: service.sql }, await service.makeSender())
    const load = ledger.load(LANES)
    for (const name of ['api', 'relay'] as const) {
      for (const at of hosts.keys()) {
        const before = ledger.acknowledged.size
        await until('mail to be accepted', () => ledger.acknowledged.size > before + 50)
        t.equal(await running.get(`${name} ${at}`)?.stop(), 0)
        running.set(`${name} ${at}`, await start(name, at))
        // Until the load balancer has seen it, the other host must not go.
        await new Promise((resolve) => setTimeout(resolve, 3000))
      }
    }
    await load.stop()
    const failed = ledger.answers.filter(({ code }) => code < 200 || code >= 300)
    t.comment(`figures: ${ledger.answers.length} calls, ${failed.length} failed`)
    t.strictSame(failed, [])

    for (const at of hosts.keys()) await running.get(`api ${at}`)?.stop()
    await until('no host to be in service', async () => (await ready()) === 503)
    t.equal(await ready(), 503)
  },
)

/** Undefined if there is none yet. */
async function tlsGreeting(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const greeting = await once(socket, 'data', { signal: AbortSignal.timeout(5000) }).then(String, () => '')
  socket.destroy()
  return greeting.startsWith('220') ? greeting : undefined
}

function configuration(
  hosts: readonly {
    readonly api: number
    readonly relay: number
    readonly relayTls: number
    readonly health: number
  }[],
  { apiPort, relayPort, relayTlsPort }: { readonly [name in 'apiPort' | 'relayPort' | 'relayTlsPort']: number },
): string {
  let text = readFileSync(FILE, 'utf8').replace('bind :8080', `bind 127.0.0.1:${apiPort}`)
  text = text.replace('bind :2525', `bind 127.0.0.1:${relayPort}`)
  text = text.replace('bind :2465', `bind 127.0.0.1:${relayTlsPort}`)
  for (const [at, { api, relay, relayTls, health }] of hosts.entries()) {
    const address = `10.0.0.1${at + 1}`
    text = text.replace(`${address}:8080`, `127.0.0.1:${api}`)
    text = text.replace(`${address}:2525 port 8081`, `127.0.0.1:${relay} port ${health}`)
    text = text.replace(`${address}:2465 port 8081`, `127.0.0.1:${relayTls} port ${health}`)
  }
  return text
}
