import { mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { backupFolderCheck } from '../../packages/cli/src/doctor/backup-folder-check.ts'
import { checkBoot } from '../../packages/cli/src/doctor/boot-check.ts'
import { createReadings } from '../../packages/cli/src/doctor/readings.ts'
import { makeAuthority } from '../delivery/authority.ts'
import { startDns } from '../helpers/dns.ts'
import { freePorts } from '../helpers/ports.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { examined, foundBy } from './doctor.ts'

const folder = () => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'doctor-'))

/** A proxy that forwards what is for everyone: neither health nor the operator's interface. */
async function startProxy(t: Test, apiPort: string): Promise<number> {
  const [port = 0] = await freePorts(1)
  const server = createServer((incoming, answer) => {
    if (/^\/(health|operator)/.test(incoming.url ?? '')) return answer.writeHead(404).end()
    const options = { port: apiPort, path: incoming.url, method: incoming.method, headers: incoming.headers }
    request(options, (found) => found.pipe(answer.writeHead(found.statusCode ?? 500, found.headers)))
      .on('error', () => answer.writeHead(502).end())
      .end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return port
}

t.test('a proxy that keeps /health to itself leads to the API, and to that of another installation not', async (t) => {
  const service = await makeService(t)
  await service.openApi()
  const other = await makeService(t, { SECRET_KEY: 'the secret key of another installation' })
  await other.openApi()
  const found = async (apiPort: string) => {
    const PUBLIC_URL = `http://127.0.0.1:${await startProxy(t, apiPort)}`
    return foundBy(await examined({ ...service.env, PUBLIC_URL }), 'public URL')
  }
  t.match(await found(service.env.API_PORT as string), /^ok: http:\S+ leads to the API$/)
  t.match(
    await found(other.env.API_PORT as string),
    /^bad: .* links of this installation are not known there \(status 404\)/,
  )
  t.match(await found('1'), /^bad: .*status 502; links/)
})

t.test('a site that responds to every path with a page is not taken for the API', async (t) => {
  const { env } = await makeService(t)
  const site = createServer((_incoming, answer) => answer.writeHead(200).end('<h1>Harbor</h1>'))
  const [port = 0] = await freePorts(1)
  await new Promise<void>((resolve) => site.listen(port, '127.0.0.1', resolve))
  t.teardown(() => site.close())
  t.match(
    foundBy(await examined({ ...env, PUBLIC_URL: `http://127.0.0.1:${port}` }), 'public URL'),
    /^bad: .* does not lead to the API, .*links that no installation has made are known there, too/,
  )
})

t.test('processes of another installation at the ports are not taken for its own', async (t) => {
  const [own, other] = [
    await makeService(t),
    await makeService(t, { SECRET_KEY: 'the secret key of another installation' }),
  ]
  for (const name of ['api', 'relay', 'returns'] as const) await startProcess(t, name, other.env)
  const { API_PORT = '', RELAY_PORT = '', RETURNS_PORT = '' } = other.env
  const mixed = await examined({ ...own.env, API_PORT, RELAY_PORT, RETURNS_PORT })
  const theirs = await examined(other.env)
  for (const name of ['api', 'relay', 'returns']) {
    t.match(
      foundBy(mixed, name),
      /^bad: the process at \S+ is not of this installation: .*; fix: stop it, or set (?:API|RELAY|RETURNS)_PORT .*DATA_DIR here is /,
    )
    t.match(foundBy(theirs, name), /^ok: /)
  }
})

t.test('the files of the certificate count, not only what the relay still offers', async (t) => {
  const authority = await makeAuthority()
  const [TLS_CERT, TLS_KEY] = [join(folder(), 'cert.pem'), join(folder(), 'key.pem')] as const
  const write = async (name: string, options?: { expired?: boolean; days?: number }) => {
    const { cert, key } = await authority.issue([name], options)
    writeFileSync(TLS_CERT, cert)
    writeFileSync(TLS_KEY, key)
    return key
  }
  await write('relay.test')
  const service = await makeService(t, { TLS_CERT, TLS_KEY })
  await service.openRelay()
  const found = async () => foundBy(await examined(service.env), 'certificate of the relay')
  await write('relay.test', { expired: true })
  t.match(await found(), /^bad: it expired on 20\S+; fix: renew the files of TLS_CERT/)
  const former = await write('relay.test')
  await write('relay.test')
  writeFileSync(TLS_KEY, former)
  t.match(
    await found(),
    /^bad: the relay cannot start again: TLS_KEY does not match the certificate in TLS_CERT; fix: renew/,
  )
  writeFileSync(TLS_CERT, 'no certificate')
  t.match(await found(), /^bad: the relay cannot start again: TLS_CERT must be a PEM file with a certificate chain/)
  await write('other.test')
  t.match(
    await found(),
    /^warn: the relay still uses another certificate than .*cert\.pem; fix: replace the relay: SIGHUP to/,
  )
})

t.test('backups on the disk of the data, or where they cannot be written, are a warning', async (t) => {
  const DATA_DIR = folder()
  const elsewhere = statSync('/dev/shm').dev === statSync(DATA_DIR).dev ? '/var/tmp' : '/dev/shm'
  const found = async (BACKUP_DIR: string, env: Record<string, string> = {}) => {
    const all = { DATA_DIR, BACKUP_DIR, ...env }
    return backupFolderCheck.run(
      createReadings({ config: readConfig(all), env: all, recipient: undefined, sql: undefined }),
    )
  }
  t.match(await found(join(DATA_DIR, 'backups', 'of', 'mail')), {
    status: 'warn',
    detail: /is in the same file system as DATA_DIR: what damages the disk takes both$/,
    fix: /another disk or host, or to s3:/,
  })
  writeFileSync(join(DATA_DIR, 'file'), '')
  t.match(await found(join(DATA_DIR, 'file')), {
    status: 'warn',
    detail: /cannot be written by this user \(.*not a folder/,
  })
  // For root, only the kernel's own file systems refuse.
  t.match(await found('/proc/sys/backups'), {
    status: 'warn',
    detail: /cannot be written by this user .*no backup is taken/,
  })
  t.match(await found(elsewhere), { status: /ok|warn/, detail: /are free on the disk of BACKUP_DIR/ })
  t.equal(await found('s3://bucket/mail', { SECRET_KEY: 'k'.repeat(32), ...S3 }), undefined)
})

const S3 = { S3_ENDPOINT: 'https://s3.example', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b', S3_REGION: 'r' }

t.test('where systemd runs and mail is real, a unit that is enabled starts the service at boot', async (t) => {
  const root = folder()
  const real = { config: readConfig({ DELIVERY: 'mx', HELO_NAME: 'mail.example.com' }) }
  t.equal(checkBoot(real, root), undefined, 'no systemd')
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants')
  mkdirSync(wants, { recursive: true })
  writeFileSync(join(wants, 'cron.service'), '[Service]\nExecStart=/usr/sbin/cron\n')
  symlinkSync('/nowhere', join(wants, 'gone.service'))
  t.match(checkBoot(real, root), {
    status: 'warn',
    detail: /^no systemd unit of Postrider is enabled/,
    fix: /systemctl enable/,
  })
  t.equal(checkBoot({ config: readConfig({}) }, root), undefined, 'a sandbox is started by hand')
  writeFileSync(join(wants, 'mail.service'), '[Service]\nExecStart=/opt/postrider/node_modules/.bin/node up\n')
  t.match(checkBoot(real, root), { status: 'ok', detail: 'enabled: mail.service' })
  symlinkSync('/nowhere', join(wants, 'postrider.service'))
  t.match(checkBoot(real, root), { status: 'ok', detail: 'enabled: mail.service, postrider.service' })
})

t.test(
  'port 25 is tried with one connection to a well-known server, which is said before; not with --offline',
  async (t) => {
    let connections = 0
    const server = createTcpServer((socket) => {
      connections++
      socket.on('error', () => {}).end('220 mx1.example ready\r\n')
    })
    const [port = 0] = await freePorts(1)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const dns = await startDns(t, {
      'gmail.com': {
        mx: [
          [5, 'mx1.example'],
          [10, 'mx2.example'],
        ],
      },
      'mx1.example': { a: ['127.0.0.1'] },
      'mx2.example': { a: ['127.0.0.1'] },
    })
    const { env } = await makeService(t, { DELIVERY: 'mx', MX_PORT: String(port), DNS_SERVERS: dns.address })
    const open = await examined(env)
    t.equal(foundBy(open, 'outbound SMTP'), `ok: mx1.example:${port} responds`)
    t.match(
      open.stderr,
      `Port ${port} is tried with one connection to a mail server of gmail.com (not with --offline).\n`,
    )
    t.equal(connections, 1)
    const offline = await examined(env, '--offline')
    t.match(foundBy(offline, 'outbound SMTP'), /^not checked: --offline/)
    t.notMatch(offline.stderr, 'gmail.com')
    t.equal(connections, 1)
    server.close()
    t.match(
      foundBy(await examined(env), 'outbound SMTP'),
      /^bad: mx1\.example:\d+: no response; fix: .*open outbound port/,
    )
    dns.zones['mx1.example'] = { fails: 'servfail' }
    t.match(
      foundBy(await examined(env), 'outbound SMTP'),
      /^not checked: the mail servers of gmail\.com are unknown: the lookup of A mx1\.example failed \(ESERVFAIL\)$/,
    )
  },
)

t.test('block lists that did not answer are unknown', async (t) => {
  const list = 'bl.example'
  const { env, core, sql } = await makeService(t, { DELIVERY: 'mx', BLOCK_LISTS: list })
  await core.sources.add({ name: 'mta-1', address: '45.0.0.1', helo: 'relay.test', force: true })
  await sql`insert into workers (host, pid) values ('mail-7', 4711)`
  await sql`insert into source_workers (source_id, worker_id) select s.id, w.id from sources s, workers w`
  await sql`insert into source_checks (source_id) select id from sources on conflict do nothing`
  await sql`
    insert into source_listings (source_id, address, list, state, codes, severe, problem, since, checked_at)
    select id, '45.0.0.1', ${list}, 'unknown', '{}', false, 'no answer', service_now(), service_now() from sources`
  t.match(
    foundBy(await examined(env, '--offline'), 'source addresses'),
    new RegExp(`^warn: no block list is known to have a source, but these did not answer: ${list}; fix: .*DNS_SERVERS`),
  )
})
