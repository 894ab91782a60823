import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeEmptyDatabase } from '../../helpers/database.ts'
import { until } from '../../helpers/until.ts'
import { hasSystemNode, missingForBare, type NodeKind, startBare } from './bare.ts'
import { bindAt, checkReport, deliver, follow, homeOf, isReady, notFollowed, settings } from './following.ts'

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
const skip = missingForBare() ?? false
const TIMES = { timeout: 1_500_000, skip }
const ONLY = process.env.SUITES?.split(',')
const has = (suite: string) => ONLY === undefined || ONLY.includes(suite)

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
      bindAt(
        Object.fromEntries(Object.entries(names).map(([name, port]) => [`postrider-${name}.socket`, port as string])),
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
    const names = [README, INSTALLING].flatMap(notFollowed)
    t.strictSame(
      names.filter((name) => ELSEWHERE[name] === undefined),
      [],
    )
  },
)
