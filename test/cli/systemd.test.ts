import { execFile, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { MEMORY } from '../../packages/cli/src/memory.ts'
import { freePorts } from '../helpers/ports.ts'
import { BARE_ENVIRONMENT, FILES, startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const UNITS = globSync('deploy/systemd/*', { cwd: ROOT }).sort()
const folder = () => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'systemd-'))
const lacks = (command: string) => spawnSync(command, ['--version']).status !== 0 && `${command} is not installed`

/** The units in a folder of their own, with a program that this host has in place of /opt/postrider/node_modules/.bin/node; systemd's complaints. */
async function verify(change: (text: string) => string): Promise<string> {
  const copies = folder()
  for (const file of UNITS) {
    const text = readFileSync(join(ROOT, file), 'utf8').replace('/opt/postrider/node_modules/.bin/node', '/bin/true')
    writeFileSync(join(copies, basename(file)), change(text))
  }
  const names = UNITS.map((file) => join(copies, basename(file).replace('@', '@1')))
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${copies}:/lib/systemd/system` }
  const args = ['verify', '--man=no', '--recursive-errors=no', ...names.map((name) => basename(name))]
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', args, { env, cwd: copies }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout + stderr
}

t.test('systemd accepts the units', { skip: lacks('systemd-analyze') }, async (t) => {
  t.equal(await verify((text) => text), '')
  t.match(await verify((text) => text.replace('ProtectHome=', 'ProtectHouse=')), /Unknown key (?:name )?'ProtectHouse'/)
})

t.test('the units start programs that exist, with sockets of their names', (t) => {
  const sockets: Record<string, string> = {}
  for (const file of UNITS.filter((name) => name.endsWith('.socket')))
    sockets[basename(file)] = /^FileDescriptorName=(.+)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? ''
  t.strictSame(Object.values(sockets).sort(), ['api', 'relay', 'relay-tls', 'returns'])
  for (const file of UNITS.filter((name) => name.endsWith('.service'))) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const program = /^ExecStart=.* (packages\/\S+)$/m.exec(text)?.[1] as string
    t.ok(existsSync(join(ROOT, program)), program)
    for (const [, socket = ''] of text.matchAll(/^Sockets=(.+)$/gm)) t.ok(sockets[socket], `${file}: ${socket}`)
  }
  t.end()
})

t.test('the units and the image start processes with the memory settings of npm start', async (t) => {
  const [flags, env] = [MEMORY.flags.join(' '), Object.entries(MEMORY.env).map(([name, value]) => `${name}=${value}`)]
  for (const file of [...UNITS.filter((name) => name.endsWith('.service')), 'deploy/debian/postrider.service']) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const one of env) t.match(text, one, file)
    // "postrider up" gives the flags to the processes that it starts.
    if (!text.includes('postrider up')) t.match(text, `/node ${flags} packages/`, file)
  }
  t.match(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'), `NODE_OPTIONS="${flags}"`)
})

t.test(
  'the API serves the connection for which systemd started it',
  { skip: lacks('systemd-socket-activate') },
  async (t) => {
    const service = await makeService(t)
    const [port] = (await freePorts(1)) as [number]
    const variables = { ...BARE_ENVIRONMENT, ...service.env, LOG_LEVEL: 'warn' }
    const passed = Object.entries(variables).flatMap(([name, value]) => ['-E', `${name}=${value}`])
    const args = ['-l', `127.0.0.1:${port}`, '--fdname=api', ...passed, process.execPath, FILES.api]
    const child = spawn('systemd-socket-activate', args, { cwd: ROOT, stdio: 'ignore' })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    t.teardown(() => child.kill('SIGKILL'))
    const live = () => fetch(`http://127.0.0.1:${port}/health/live`, { headers: { connection: 'close' } })
    const answer = await until('the first answer', () => live().catch(() => undefined))
    t.equal(answer.status, 200)
    child.kill('SIGTERM')
    t.equal(await exited, 0)
  },
)

t.test('a process of Type=notify reports that it is ready', async (t) => {
  const service = await makeService(t)
  const bin = folder()
  const notified = join(bin, 'notified')
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$@" "$NOTIFY_SOCKET" "$SECRET_KEY" >> ${notified}\n`)
  chmodSync(join(bin, 'systemd-notify'), 0o755)
  const relay = await startProcess(t, 'relay', {
    ...service.env,
    PATH: `${bin}:${process.env.PATH}`,
    NOTIFY_SOCKET: '/run/notify',
  })
  await until('the notification', () => existsSync(notified) && readFileSync(notified, 'utf8').includes('\n'))
  t.equal(readFileSync(notified, 'utf8').trim(), '--ready /run/notify')
  t.equal(await relay.stop(), 0)
})
