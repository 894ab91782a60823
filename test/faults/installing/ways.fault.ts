import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { BoundSocket } from 'node:net'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { upSettings } from '../../cli/postrider.ts'
import { makeEmptyDatabase } from '../../helpers/database.ts'
import { until } from '../../helpers/until.ts'
import {
  type Bare,
  hasSystemNode,
  missingForBare,
  type NodeKind,
  ROOT,
  type Served,
  type Shell,
  startBare,
} from './bare.ts'
import { blocksOf, treatmentOf } from './lines.ts'
import { readUnit, startUnit } from './unit.ts'

/*
 * Each way to install, as its page has it: the lines are read from the page and typed one after the other into a shell on a bare Debian. A new line has to be
 * known in lines.ts, and a new block here.
 */

const README = 'README.md'
const INSTALLING = 'docs/installing.md'
/** Blocks that are not of an installation on this machine, with what tries them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md, "Settings", 1': 'test/cli/up.test.ts runs a second instance',
  'docs/installing.md, "HTTPS", 1': 'test/cli/proxies.test.ts',
  'docs/installing.md, "HTTPS", 2': 'test/cli/proxies.test.ts',
}
const blocks = new Map([README, INSTALLING].flatMap(blocksOf).map((block) => [block.name, block.lines]))
const left = new Set(blocks.keys())
const skip = missingForBare() ?? false
const TIMES = { timeout: 1_500_000, skip }
const ONLY = process.env.SUITES?.split(',')
const has = (suite: string) => ONLY === undefined || ONLY.includes(suite)

/** What a page leaves to its reader. */
type Placeholders = Readonly<Record<string, string>>

interface Place {
  readonly bare: Bare
  readonly shell: Shell
  readonly placeholders?: Placeholders
}

interface Followed {
  readonly output: string
  readonly served: readonly Served[]
}

/** Follows a block of a page line by line. */
async function follow(t: Test, name: string, { bare, shell, placeholders = {} }: Place): Promise<Followed> {
  const lines = blocks.get(name)
  if (!lines) throw new Error(`there is no block ${name}`)
  left.delete(name)
  let output = ''
  const served: Served[] = []
  for (const line of lines) {
    const filled = Object.entries(placeholders).reduce((text, [from, to]) => text.replaceAll(from, to), line)
    if (filled.includes('…')) throw new Error(`nothing takes the place of … in ${line}`)
    const how = treatmentOf(line)
    if (typeof how === 'object') t.comment(`${line}: ${how.elsewhere}`)
    else if (how === 'serve') served.push(await serve(shell, filled))
    else if (how === 'units') served.push(...(await enable(t, bare, { shell, line: filled })))
    else {
      const began = performance.now()
      const { code, output: said } = await shell.type(filled)
      t.comment(`${filled.split('#')[0]?.trim()} (${Math.round(performance.now() - began)} ms)`)
      t.equal(
        code,
        how === 'report' ? 1 : 0,
        how === 'report' ? `${line}: the records are not published` : `${line}\n${said}`,
      )
      if (how === 'report') checkReport(t, said)
      output += said
    }
  }
  return { output, served }
}

async function serve(shell: Shell, line: string): Promise<Served> {
  const started = await shell.serve(line)
  if (!line.startsWith('node ')) await started.says('Running.')
  return started
}

/** `systemctl enable --now`, for which there is no systemd. Sockets are handed to the services that name them. */
async function enable(t: Test, bare: Bare, { shell, line }: { shell: Shell; line: string }): Promise<Served[]> {
  const { output } = await shell.type(`printf '%s\\n' ${line.replace('systemctl enable --now ', '')}`)
  const started: Served[] = []
  for (const name of output.trim().split('\n')) {
    if (name.endsWith('.socket')) await bindSocket(t, bare, name)
    else
      started.push(
        await startUnit(bare, { name: `${name.replace(/\.service$/, '')}.service`, root: shell, sockets: bound }),
      )
  }
  for (const one of started) if (one.line.includes(' up')) await one.says('Running.')
  return started
}

let bound: Record<string, number> = {}
let boundPorts: Record<string, string> = {}

/** On a port that is free here, which the processes do not see. */
async function bindSocket(t: Test, bare: Bare, name: string): Promise<void> {
  const address = readUnit(bare, name).one('ListenStream')
  const port = boundPorts[name] as string
  t.match(address, /^(127\.0\.0\.1:|\d+$)/)
  const socket = new BoundSocket({ host: '127.0.0.1', port: Number(port) })
  t.teardown(() => socket.close())
  bound = { ...bound, [name]: socket.fd() }
}

/** Nothing is wrong but what only the owner of example.com can mend, and each finding says what to do. */
function checkReport(t: Test, report: string): void {
  const findings = [...report.matchAll(/^ {2}(bad|warn) +(.+?) {2,}(.*)(\n {20,}.*)*/gm)]
  for (const [text] of findings) t.match(text, /fix: /, text)
  t.comment(findings.map(([text]) => text).join('\n'))
  const faults = findings.filter(([, status]) => status === 'bad').map(([, , name]) => name)
  t.strictSame(
    faults.filter((name) => !OF_THE_OWNER.includes(name as string)),
    [],
    report,
  )
}

/** Its records are not published, and mail is not sent from where the tests run. */
const OF_THE_OWNER = ['public URL', 'HELO name', 'return path', 'outbound SMTP']

async function isReady(t: Test, port: string | undefined): Promise<void> {
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('the API to be ready', ready, 60_000)
  t.equal((await fetch(`http://127.0.0.1:${port}/docs`)).status, 200)
}

async function settings(): Promise<Record<string, string>> {
  const { DATA_DIR: _folder, ...ports } = await upSettings()
  return ports
}

/** A folder that everybody can enter: as root, Postgres runs as nobody in a chroot, which has no namespaces of users. */
function homeOf(bare: Bare, user: string): string {
  if (user !== 'root') return `/home/${user}`
  mkdirSync(join(bare.folder, 'opt/mail'))
  return '/opt/mail'
}

/** The files of a release, and this commit as a checkout. */
function deliver(bare: Bare, user: string, folder: string): void {
  const cwd = join(bare.folder, folder)
  for (const file of [packageFile(), debianFile()]) copyFileSync(file, join(cwd, basename(file)))
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, join(cwd, 'postrider')])
  execFileSync('chroot', [bare.folder, 'chown', '-R', `${user}:${user}`, folder])
}

let packed: string | undefined
function packageFile(): string {
  packed ??= lastLine('deploy/npm/pack.ts')
  return packed
}

let debian: string | undefined
function debianFile(): string {
  packageFile()
  debian ??= lastLine('deploy/debian/build.ts')
  return debian
}

function lastLine(program: string): string {
  const said = execFileSync(process.execPath, [program], { cwd: ROOT, encoding: 'utf8' })
  return said.trim().split('\n').at(-1) as string
}

for (const suite of ['bookworm', 'trixie'].filter(has)) {
  t.test(`the Debian package, as root, on a bare ${suite} without Node`, TIMES, async (t) => {
    const bare = startBare(t, suite, 'none')
    deliver(bare, 'root', '/root')
    const env = await settings()
    const shell = bare.shell('root', '/root', env)
    t.match((await shell.type('node --version')).output, 'not found')
    const { output } = await follow(t, `${INSTALLING}, "One host", 1`, { bare, shell })
    t.match(output, /^account 1$/m)
    await isReady(t, env.API_PORT)
  })
}

const NPM: readonly (readonly [suite: string, user: string, node: NodeKind])[] = [
  ['bookworm', 'lena', 'debian'],
  ['trixie', 'root', 'debian'],
  ['trixie', 'lena', 'debian'],
  ['bookworm', 'root', 'system'],
]
for (const [suite, user, node] of NPM.filter(([suite]) => has(suite))) {
  const isSkipped = skip || (node === 'system' && !hasSystemNode() ? 'this machine has no Node 20 in /usr' : false)
  const told = `on ${suite} as ${user === 'root' ? 'root' : 'an ordinary user'}, with ${node === 'debian' ? 'its' : 'another'} Node`
  t.test(`the npm package, ${told}`, { ...TIMES, skip: isSkipped }, async (t) => {
    const bare = startBare(t, suite, node)
    const home = homeOf(bare, user)
    deliver(bare, user, home)
    const env = await settings()
    const shell = bare.shell(user, home, env)
    t.comment((await shell.type('node --version')).output.trim())
    const { output } = await follow(t, `${INSTALLING}, "One host", 2`, { bare, shell })
    t.match(output, /^account 1$/m)
    await follow(t, `${INSTALLING}, "One host", 3`, { bare, shell: bare.shell('root', home, {}) })
    await isReady(t, env.API_PORT)
    const { code, output: report } = await shell.type('npx postrider doctor')
    t.equal(code, 1)
    checkReport(t, report)
  })

  t.test(`the README in a checkout, ${told}`, { ...TIMES, skip: isSkipped }, async (t) => {
    const bare = startBare(t, suite, node)
    const home = homeOf(bare, user)
    deliver(bare, user, home)
    const env = await settings()
    await t.test('first steps', async (t) => {
      const shell = bare.shell(user, `${home}/postrider`, { ...env, DATA_DIR: `${home}/trial` })
      const { served } = await follow(t, `${README}, "Start", 1`, { bare, shell })
      const key = /pr_[0-9A-Za-z]{33}/.exec(served[0]?.said ?? '')?.[0] as string
      t.ok(key)
      if (suite === 'trixie') {
        const placeholders = {
          'pr_…': key,
          '127.0.0.1:8080': `127.0.0.1:${env.API_PORT}`,
          '127.0.0.1:2525': `127.0.0.1:${env.RELAY_PORT}`,
        }
        await bare.shell('root', '/', {}).type('apt-get install --yes --no-install-recommends curl')
        const { output } = await follow(t, `${README}, "The first message", 1`, { bare, shell: shell, placeholders })
        t.equal(output.match(/you@example\.org|hello@demo\.example/g)?.length ?? 0, 3, output)
      }
      for (const one of served) await one.stop()
    })
    const shell = bare.shell(user, `${home}/postrider`, env)
    const { output } = await follow(t, `${README}, "Production", 1`, { bare, shell })
    t.match(output, /^account 1$/m)
    await isReady(t, env.API_PORT)
  })
}

t.test(
  'several hosts, each process by hand, and then under systemd',
  { ...TIMES, skip: skip || !has('trixie') },
  async (t) => {
    const bare = startBare(t, 'trixie', 'debian')
    deliver(bare, 'lena', '/home/lena')
    const database = await makeEmptyDatabase()
    t.teardown(() => database.drop())
    const env = await settings()
    const first = bare.shell('lena', '/home/lena/postrider', env)
    const placeholders = { 'postgres://…': database.url }
    const { output } = await follow(t, `${INSTALLING}, "Several hosts", 1`, { bare, shell: first, placeholders })
    t.match(output, /^account 1$/m)
    await t.test('by hand, on two hosts', async (t) => {
      const { served } = await follow(t, `${INSTALLING}, "Several hosts", 2`, { bare, shell: first })
      await isReady(t, env.API_PORT)
      // The second host has its own copy of the checkout, of which only the processes that need no port of the first are run.
      await first.type('cp -a . ../second && cd ../second')
      const worker = await first.serve('node packages/delivery/src/worker.ts')
      const workers = async () => (await database.sql`select 1 from workers`).length
      await until('two workers', async () => (await workers()) === 2, 60_000)
      for (const one of [...served, worker]) {
        t.equal(one.hasEnded, false, one.said)
        await one.stop()
      }
    })
    await t.test('under systemd', async (t) => {
      const root = bare.shell('root', '/root', {})
      await root.type('mv /home/lena/postrider /opt/postrider && chown -R root:root /opt/postrider')
      const { output } = await follow(t, `${INSTALLING}, "Several hosts", 3`, { bare, shell: root })
      t.comment(output)
      const names = {
        api: env.API_PORT,
        relay: env.RELAY_PORT,
        'relay-tls': env.RELAY_TLS_PORT,
        returns: env.RETURNS_PORT,
      }
      boundPorts = Object.fromEntries(
        Object.entries(names).map(([name, port]) => [`postrider-${name}.socket`, port as string]),
      )
      const { served } = await follow(t, `${INSTALLING}, "Several hosts", 4`, { bare, shell: root })
      t.equal(served.length, 8)
      await isReady(t, env.API_PORT)
      for (const one of served) t.equal(one.hasEnded, false, one.said)
      for (const one of served) await one.stop()
    })
  },
)

t.test('Docker Compose: the settings are written once, and the rest is for a machine with Docker', TIMES, async (t) => {
  const bare = startBare(t, 'trixie', 'none')
  deliver(bare, 'lena', '/home/lena')
  const shell = bare.shell('lena', '/home/lena/postrider', {})
  await follow(t, `${INSTALLING}, "Docker Compose", 1`, { bare, shell })
  t.match(
    readFileSync(join(bare.folder, 'home/lena/postrider/.env'), 'utf8'),
    /^PUBLIC_URL=https:\/\/mail\.example\.com$/m,
  )
})

t.test(
  'every block of both pages was followed, or says where it is tried',
  { skip: skip || ONLY !== undefined },
  async (t) => {
    t.strictSame(
      [...left].filter((name) => ELSEWHERE[name] === undefined),
      [],
    )
    for (const name of left) for (const line of blocks.get(name) ?? []) treatmentOf(line)
  },
)
