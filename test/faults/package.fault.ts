import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { descendantsOf, isAlive, KEY, upSettings } from '../cli/postrider.ts'
import { until } from '../helpers/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MOST_OCTETS = 10_000_000
/** As a person has it: the system's Node and npm, and nothing of this checkout. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((one) => !one.includes('node_modules'))
  .join(delimiter)

t.test('the package, installed in an empty folder, is the service', { timeout: 600_000 }, async (t) => {
  const packed = execFileSync(process.execPath, ['deploy/npm/pack.ts'], { cwd: ROOT, encoding: 'utf8' })
  const file = packed.trim().split('\n').at(-1) as string
  t.ok(statSync(file).size < MOST_OCTETS, `it has less than ${MOST_OCTETS} octets`)
  const folder = mkdtempSync(join(tmpdir(), 'postrider-package-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env: Record<string, string> = { PATH, HOME: folder, ...(await upSettings({ DATA_DIR: join(folder, 'data') })) }
  const npx = (...args: string[]) =>
    execFileSync('npx', ['--no-install', 'postrider', ...args], { cwd: folder, env, encoding: 'utf8' })
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', file], {
    cwd: folder,
    env,
  })
  t.comment(
    `${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()}, ${execFileSync('du', ['-sm', join(folder, 'node_modules')], { encoding: 'utf8' }).split('\t')[0]} MB installed`,
  )

  const own = join(folder, 'node_modules/postrider')
  const files = readdirSync(own, { recursive: true, encoding: 'utf8' })
  t.strictSame(
    files.filter((name) => /\.ts$|^test|\.map$|(?:^|\/)node_modules/.test(name)),
    [],
    'it has neither sources nor tests',
  )
  const { version, commit } = JSON.parse(npx('--version', '--json'))
  t.equal(commit, execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).slice(0, 12))

  const began = performance.now()
  const up = spawn('npx', ['--no-install', 'postrider'], { cwd: folder, env, detached: true })
  t.teardown(() => up.exitCode ?? process.kill(-(up.pid as number), 'SIGKILL'))
  let said = ''
  for (const stream of [up.stdout, up.stderr]) stream.on('data', (octets: Buffer) => (said += octets))
  await until('everything to run', () => said.includes('Running.') || (up.exitCode !== null && said), 60_000)
  t.comment(`running after ${Math.round(performance.now() - began)} ms`)
  t.match(said, `Postrider ${version} (commit ${commit}`)
  const key = KEY.exec(said)?.[0] as string

  const api = `http://127.0.0.1:${env.API_PORT}`
  const sent = await fetch(`${api}/v2/sendEmail`, {
    method: 'POST',
    headers: { api_key: key, 'content-type': 'application/json' },
    body: JSON.stringify({
      personalizations: [{ recipient: 'you@example.org' }],
      from: { fromEmail: 'hello@demo.example' },
      subject: 'By HTTP',
      content: '<p>It works.</p>',
    }),
  })
  t.equal(sent.status, 200)
  execFileSync('sh', ['-c', /^ *printf .*$/m.exec(said)?.[0] as string])
  const inbox = async () =>
    (await fetch(`http://127.0.0.1:${env.SANDBOX_HTTP_PORT}/messages`)).json() as Promise<{ to: string }[]>
  const arrived = await until('two messages', async () => (await inbox()).length === 2 && inbox(), 20_000)
  t.strictSame(arrived.map(({ to }) => to).sort(), ['you@example.org', 'you@example.org'])

  for (const path of ['/docs', '/docs/guides/sending', '/openapi.json', '/health', '/app'])
    t.equal((await fetch(api + path)).status, 200, path)
  const link = /http:\S+\/app\/first\S+/.exec(said)?.[0] as string
  t.match(await (await fetch(link)).text(), /<form[^>]*method="post"/)
  t.match(npx('doctor'), /0 warn, 0 bad/)
  t.notMatch(said, 'npm start', 'it names the commands of an installation')

  const pids = descendantsOf(up.pid as number)
  t.ok(pids.length > 5)
  const node = pids.find((pid) =>
    execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).includes('bin/postrider'),
  )
  process.kill(node ?? (up.pid as number), 'SIGTERM')
  await until('the end of all its processes', () => !pids.some(isAlive), 30_000)
})
