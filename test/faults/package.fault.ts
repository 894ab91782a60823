import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { descendantsOf, isAlive, KEY, upSettings } from '../cli/postrider.ts'
import { until } from '../helpers/until.ts'
import { packageFile } from './installing/packages.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MOST_OCTETS = 10_000_000
/** As a person has it: the system's Node and npm, and nothing of this checkout. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((one) => !one.includes('node_modules'))
  .join(delimiter)

const folder = mkdtempSync(join(tmpdir(), 'postrider-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
type Settings = Readonly<Record<string, string>>
const settingsIn = async (cwd: string): Promise<Settings> => ({
  PATH,
  HOME: folder,
  ...(await upSettings({ DATA_DIR: join(cwd, 'data') })),
})

/** A line of a page, in a shell. */
const shell = (line: string, cwd: string, env: Settings): string =>
  execFileSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' })

interface Started {
  readonly said: string
  readonly up: ChildProcess
}

/** Runs a line that starts the service, until it says that it runs. */
async function start(t: Test, line: string, cwd: string, env: Settings): Promise<Started> {
  const up = spawn('sh', ['-c', line], { cwd, env, detached: true })
  t.teardown(() => up.exitCode ?? process.kill(-(up.pid as number), 'SIGKILL'))
  let said = ''
  for (const stream of [up.stdout, up.stderr]) stream.on('data', (octets: Buffer) => (said += octets))
  const began = performance.now()
  await until('everything to run', () => said.includes('Running.') || (up.exitCode !== null && said), 60_000)
  t.comment(`running after ${Math.round(performance.now() - began)} ms`)
  return { said, up }
}

/** A signal to the process of the command alone, as a service manager sends it. */
async function end(t: Test, { up }: Started): Promise<void> {
  const pids = descendantsOf(up.pid as number)
  t.ok(pids.length > 5)
  const command = pids.find((pid) => /bin\/postrider$|bin\/postrider up/.test(argumentsOf(pid)))
  process.kill(command ?? (up.pid as number), 'SIGTERM')
  await until('the end of all its processes', () => !pids.some(isAlive), 30_000)
}

const argumentsOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()

t.test('the package has no sources and less than 10 MB', { timeout: 300_000 }, async (t) => {
  const file = packageFile()
  t.ok(statSync(file).size < MOST_OCTETS)
  const env = { PATH, HOME: folder }
  shell(`npm install --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error '${file}'`, folder, env)
  const megabytes = shell('du -sm node_modules', folder, env).split('\t')[0]
  t.comment(`Node ${shell('node --version', folder, env).trim()}; ${megabytes} MB installed`)
  const files = readdirSync(join(folder, 'node_modules/postrider'), { recursive: true, encoding: 'utf8' })
  t.strictSame(
    files.filter((name) => /\.ts$|^test|\.map$|(?:^|\/)node_modules/.test(name)),
    [],
  )
  const { commit } = JSON.parse(shell('npx postrider --version --json', folder, env))
  t.equal(commit, execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).slice(0, 12))
})

t.test('the command alone is the service: mail by both ways, its pages, and doctor without a finding', async (t) => {
  const env = await settingsIn(folder)
  const started = await start(t, 'npx postrider', folder, env)
  const { said } = started
  t.match(said, /^Postrider \d+\.\d+\.\d+ \(commit [0-9a-f]{12}, schema \d+\)$/m)
  const key = KEY.exec(said)?.[0] as string

  const api = `http://127.0.0.1:${env.API_PORT}`
  const body = {
    personalizations: [{ recipient: 'you@example.org' }],
    from: { fromEmail: 'hello@demo.example' },
    subject: 'By HTTP',
    content: '<p>It works.</p>',
  }
  const headers = { api_key: key, 'content-type': 'application/json' }
  const sent = await fetch(`${api}/v2/sendEmail`, { method: 'POST', headers, body: JSON.stringify(body) })
  t.equal(sent.status, 200)
  shell(/^ *printf .*$/m.exec(said)?.[0] as string, folder, env)
  const inbox = async () =>
    (await fetch(`http://127.0.0.1:${env.SANDBOX_HTTP_PORT}/messages`)).json() as Promise<{ subject: string }[]>
  const arrived = await until('two messages', async () => (await inbox()).length === 2 && inbox(), 20_000)
  t.strictSame(arrived.map(({ subject }) => subject).sort(), ['By HTTP', 'By SMTP'])

  for (const path of ['/docs', '/docs/guides/sending', '/openapi.json', '/health', '/app'])
    t.equal((await fetch(api + path)).status, 200, path)
  const link = /http:\S+\/app\/first\S+/.exec(said)?.[0] as string
  t.match(await (await fetch(link)).text(), /<form[^>]*method="post"/)
  t.match(shell('npx postrider doctor', folder, env), /0 warn, 0 bad/)
  t.notMatch(said, 'npm start', 'it names the commands of an installation')
  await end(t, started)
})

t.test("the README's lines for production work in a new folder, one by one", async (t) => {
  const readme = readFileSync(join(folder, 'node_modules/postrider/README.md'), 'utf8')
  const block = /^## Production\n\n```sh\n(.*?)```/ms.exec(readme)?.[1] ?? ''
  const [init = '', up = '', doctor = ''] = block.trim().split('\n')
  const cwd = join(folder, 'production')
  mkdirSync(cwd)
  const env = await settingsIn(cwd)
  t.match(shell(init, cwd, env), /^account 1$/m)
  const started = await start(t, up, cwd, env)
  t.notMatch(started.said, KEY, 'there is no demo account')
  t.match(started.said, "to the recipients' servers")
  // The records of example.com are not ours, so there are findings; each says what to do.
  const report = JSON.parse(shell(`${doctor.split('#', 1)[0]} --json || true`, cwd, env))
  const bad = (report.checks as { status: string; name: string; detail: string; fix?: string }[]).filter(
    ({ status }) => status === 'bad',
  )
  for (const { name, detail, fix } of bad) t.ok(fix, `${name}: ${detail}`)
  t.match(shell('npx postrider account list', cwd, env), 'My company')
  await end(t, started)
})

t.test("a test with the system's Node starts the installed package, and reads what arrives", async (t) => {
  const client = execFileSync(process.execPath, ['deploy/client/pack.ts', folder], { cwd: ROOT, encoding: 'utf8' })
  const [env, file] = [{ PATH, HOME: folder }, client.trim().split('\n').at(-1)]
  shell(`npm install --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error '${file}'`, folder, env)
  writeFileSync(
    join(folder, 'sign-up.test.mjs'),
    `import { strictEqual } from 'node:assert'
import { test } from 'node:test'
import { Postrider } from '@postrider/client'
import { startPostrider } from '@postrider/client/test'
test('the code arrives', async () => {
  const { url: baseUrl, apiKey, inbox, stop } = await startPostrider({ domains: ['shop.example'] })
  const to = inbox.address('lena')
  await new Postrider({ baseUrl, apiKey }).messages.send({ from: 'desk@shop.example', to, subject: 'Code', html: '<h1>482913</h1>' })
  const { codes } = await inbox.waitFor({ to, timeout: 60_000 })
  await stop()
  strictEqual(codes[0], '482913')
})
`,
  )
  t.match(shell('node --test sign-up.test.mjs', folder, env), /pass 1/)
})
