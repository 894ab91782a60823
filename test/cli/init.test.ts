import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeEmptyDatabase } from '../helpers/database.ts'

const FILE = fileURLToPath(new URL('../../packages/cli/src/postrider.ts', import.meta.url))

/** Runs `postrider` in a folder, as an operator does. */
async function run(folder: string, env: Readonly<Record<string, string>>, ...args: string[]) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [FILE, ...args], {
    cwd: folder,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
  })
  child.stdin.end()
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (octets: Buffer) => (stdout += octets))
  child.stderr.on('data', (octets: Buffer) => (stderr += octets))
  const [code] = await once(child, 'close')
  return { code: code as number, stdout, stderr }
}

const newFolder = () => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'init-'))

t.test('init sets up an installation that delivers to the internet', async (t) => {
  const folder = newFolder()
  const { url, drop } = await makeEmptyDatabase()
  t.teardown(drop)
  const given = ['--company', 'Harbor Shipping', '--domain', 'Ship.example', '--mail', 'ops@quay.example']
  const done = await run(folder, { DATABASE_URL: url }, 'init', ...given)
  t.equal(done.code, 0, done.stderr)
  t.match(done.stdout, /^account 1$/m)
  t.match(done.stdout, /^API key pr_\S+ \(shown once\)$/m)
  t.match(done.stdout, /owner.*: https:\/\/mail\.ship\.example\/app\/first\?token=/)
  t.match(done.stdout, /_domainkey\.ship\.example +v=DKIM1/)

  await t.test(
    'the settings are in a file that only its owner reads, and that a shell and systemd read, too',
    async (t) => {
      const file = join(folder, 'postrider.env')
      t.equal(statSync(file).mode & 0o777, 0o600)
      const read = spawnSync('sh', ['-c', 'set -a; . ./postrider.env; env'], { cwd: folder, encoding: 'utf8', env: {} })
      const settings = Object.fromEntries(read.stdout.split('\n').map((line) => line.split(/=(.*)/s, 2)))
      t.match(settings, {
        DELIVERY: 'mx',
        HELO_NAME: 'mail.ship.example',
        PUBLIC_URL: 'https://mail.ship.example',
        RETURNS_HOST: '0.0.0.0',
        SERVICE_DOMAIN: 'ship.example',
        OPERATOR_MAIL: 'ops@quay.example',
        DATABASE_URL: url,
        SECRET_KEY: /^[0-9a-f]{64}$/,
      })
    },
  )

  await t.test('all commands in the folder use them; what the environment sets goes before', async (t) => {
    const { stdout } = await run(folder, {}, 'account', 'list', '--json')
    t.match(JSON.parse(stdout), [{ id: 1, name: 'Harbor Shipping' }])
    t.equal(JSON.parse(stdout).length, 1, 'there is no demo account')
    const dns = await run(folder, { HELO_NAME: 'other.example' }, 'domain', 'dns', 'ship.example')
    t.match(dns.stdout, 'include:other.example')
  })

  await t.test('a second call changes nothing', async (t) => {
    const before = readFileSync(join(folder, 'postrider.env'), 'utf8')
    const again = await run(folder, { DATABASE_URL: url }, 'init', '--company', 'Other', '--domain', 'other.example')
    t.match(again, { code: 1, stdout: '', stderr: /postrider\.env is here already/ })
    t.equal(readFileSync(join(folder, 'postrider.env'), 'utf8'), before)
  })

  await t.test('a call that was interrupted goes on where it was', async (t) => {
    const other = newFolder()
    const { stdout } = await run(folder, {}, 'account', 'list', '--json')
    const resumed = await run(other, { DATABASE_URL: url, SECRET_KEY: secretOf(folder) }, 'init', ...given)
    t.match(resumed, { code: 0, stdout: /^account 1$/m })
    t.equal((await run(folder, {}, 'account', 'list', '--json')).stdout, stdout)
  })

  await t.test('a file of settings that others can change is not used, and says so', async (t) => {
    chmodSync(join(folder, 'postrider.env'), 0o666)
    const { stderr } = await run(folder, { DATABASE_URL: url }, 'unit')
    t.match(stderr, 'postrider.env is not used: others can change it; chmod 600 postrider.env')
  })
})

const secretOf = (folder: string): string =>
  /^SECRET_KEY=(.*)$/m.exec(readFileSync(join(folder, 'postrider.env'), 'utf8'))?.[1] ?? ''

t.test('without a terminal, init names what it lacks and what is wrong, and creates nothing', async (t) => {
  const folder = newFolder()
  for (const [args, code, message] of [
    [[], 2, 'missing option --company'],
    [['--company', 'Harbor'], 2, 'missing option --domain'],
    [['--company', '', '--domain', 'ship.example'], 2, '--company must have 1 to 100 characters'],
    [['--company', 'Harbor', '--domain', 'ship'], 2, '--domain must be a domain name such as example.com (got "ship")'],
    [
      ['--company', 'Harbor', '--domain', 'ship.example', '--host', 'a b'],
      2,
      '--host must be a domain name such as example.com (got "a b")',
    ],
    [
      ['--company', 'Harbor', '--domain', 'ship.example', '--mail', 'me'],
      2,
      '--mail must be an email address (got "me")',
    ],
    [['--company', 'Harbor', '--domain', 'ship.example', '--public-url', 'mail'], 78, 'PUBLIC_URL'],
  ] as const) {
    const refused = await run(folder, {}, 'init', ...args)
    t.match(refused, { code, stdout: '' }, args.join(' '))
    t.match(refused.stderr, message)
  }
  for (const name of ['postrider.env', 'data']) t.notOk(existsSync(join(folder, name)), name)
})

t.test('unit prints a systemd unit for this folder', async (t) => {
  const folder = newFolder()
  const { stdout } = await run(folder, {}, 'unit')
  t.match(stdout, `WorkingDirectory=${folder}\n`)
  t.match(stdout, `EnvironmentFile=${folder}/postrider.env\n`)
  writeFileSync(join(folder, 'postrider.service'), stdout)
  const verified = spawnSync('systemd-analyze', ['verify', join(folder, 'postrider.service')], { encoding: 'utf8' })
  // Where there is no systemd, there is nothing that reads it.
  t.notMatch(verified.stderr ?? '', 'postrider.service')
})
