import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { makeAuthority } from '../delivery/authority.ts'
import { freePorts } from '../helpers/ports.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { examined, foundBy } from './doctor.ts'

const shipped = (file: string) => readFileSync(fileURLToPath(new URL(`../../deploy/${file}`, import.meta.url)), 'utf8')
const lacks = (command: string, arg: string) => spawnSync(command, [arg]).status !== 0 && `${command} is not installed`
const folder = () => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'proxy-'))

interface Proxy {
  readonly port: number
  /** PEM of the authority of its certificates, once there is one. */
  readonly authority: () => string
}

function run(t: Test, command: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(command, args, { stdio: 'ignore', env: { PATH: process.env.PATH, ...env } })
  t.teardown(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
  })
  return child
}

/** The shipped file, with ports and certificates of the test, and the host localhost. */
async function startCaddy(t: Test, apiPort: string): Promise<Proxy> {
  const [port = 0, http = 0] = await freePorts(2)
  const data = folder()
  const own = `{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${port}\n`
  const file = join(data, 'Caddyfile')
  writeFileSync(file, shipped('caddy/Caddyfile').replace(/^\{\n/m, own))
  const env = { PUBLIC_HOST: 'localhost', API_ADDRESS: `127.0.0.1:${apiPort}`, HOME: data, XDG_DATA_HOME: data }
  run(t, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], env)
  return { port, authority: () => readFileSync(join(data, 'caddy/pki/authorities/local/root.crt'), 'utf8') }
}

async function startNginx(t: Test, apiPort: string): Promise<Proxy> {
  const [port = 0, http = 0] = await freePorts(2)
  const data = folder()
  const authority = await makeAuthority()
  const { cert, key } = await authority.issue(['localhost'])
  writeFileSync(join(data, 'cert.pem'), cert)
  writeFileSync(join(data, 'key.pem'), key)
  const own = shipped('nginx/postrider.conf')
    .replaceAll(/listen \[::\]:\d+.*;\n/g, '')
    .replace('listen 80', `listen 127.0.0.1:${http}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replaceAll('mail.example.com;', 'localhost;')
    .replace(/ssl_certificate .*;/, `ssl_certificate ${data}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${data}/key.pem;`)
    .replace('127.0.0.1:8080', `127.0.0.1:${apiPort}`)
  mkdirSync(join(data, 'tmp'))
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path ${data}/tmp/${one};`,
  )
  const file = join(data, 'nginx.conf')
  const http_ = `http {\naccess_log off;\n${folders.join('\n')}\n${own}\n}\n`
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  writeFileSync(file, `${user}daemon off;\npid ${data}/pid;\nerror_log ${data}/error.log;\nevents {}\n${http_}`)
  t.equal(spawnSync('nginx', ['-t', '-c', file], { encoding: 'utf8' }).stderr.includes('test is successful'), true)
  run(t, 'nginx', ['-c', file])
  return { port, authority: () => authority.cert }
}

/** What the service is like behind a proxy: public where it should be, for everyone else not, and the doctor finds no fault. */
async function tryBehind(t: Test, service: TestService, { port, authority }: Proxy): Promise<void> {
  const trusted = getCACertificates()
  t.teardown(() => setDefaultCACertificates(trusted))
  const PUBLIC_URL = `https://localhost:${port}`
  const answers = async () => {
    setDefaultCACertificates([...trusted, authority()])
    return (await fetch(`${PUBLIC_URL}/openapi.json`)).ok
  }
  await until('the proxy', () => answers().catch(() => false), 20_000)
  const status = async (path: string) => (await fetch(PUBLIC_URL + path, { redirect: 'manual' })).status
  for (const path of ['/operator/v1/queues', '/operator', '/health/live', '/health', '/tls/ask?domain=localhost'])
    t.equal(await status(path), 404, path)
  t.equal(await status('/v2/events/feed'), 401)
  t.equal(await status('/docs'), 200)
  const sender = await service.makeSender()
  const { status: sent, body } = await sendV2(PUBLIC_URL, sender.apiKey, v2Body(sender))
  t.equal(sent, 200, JSON.stringify(body))
  const diagnosis = await examined({ ...service.env, PUBLIC_URL, TRUST_PROXY: '127.0.0.1' })
  t.equal(foundBy(diagnosis, 'public URL'), `ok: ${PUBLIC_URL} leads to the API`)
  t.match(foundBy(diagnosis, 'certificate of the public URL'), /^(?:ok|warn): valid for/)
}

t.test('behind our Caddyfile', { skip: lacks('caddy', 'version') }, async (t) => {
  const service = await makeService(t)
  await service.openApi()
  const caddy = await startCaddy(t, service.env.API_PORT as string)
  await t.test('what is for everyone is served, and nothing else', (t) => tryBehind(t, service, caddy))

  await t.test(
    'a host of a customer gets a certificate once its record points here, and serves links only',
    async (t) => {
      const { accountId } = await service.makeSender()
      await service.core.domains.add({ accountId, name: 'quay.example', state: 'active', envelopeName: 'click' })
      const greets = (servername: string) =>
        new Promise<string>((resolve) => {
          const socket = connect({ port: caddy.port, servername, rejectUnauthorized: false }, () => {
            socket.write(`GET /app HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`)
          })
          let answer = ''
          socket.on('data', (octets: Buffer) => (answer += octets))
          socket
            .once('error', () => resolve('refused'))
            .once('end', () => resolve(answer.split('\r\n', 1)[0] as string))
        })
      t.equal(await greets('click.unknown.example'), 'refused')
      await service.sql`update domains set records = '{"CNAME click.quay.example":{"state":"right"}}' where name = 'quay.example'`
      t.equal(await greets('click.quay.example'), 'HTTP/1.1 404 Not Found')
    },
  )
})

t.test('behind our configuration of nginx', { skip: lacks('nginx', '-v') }, async (t) => {
  const service = await makeService(t)
  await service.openApi()
  await tryBehind(t, service, await startNginx(t, service.env.API_PORT as string))
})
