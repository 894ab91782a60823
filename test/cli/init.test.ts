import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { makeEmptyDatabase } from '../helpers/database.ts'

const FILE = fileURLToPath(new URL('../../packages/cli/src/postrider.ts', import.meta.url))

function start(folder: string, env: Readonly<Record<string, string>>, ...args: string[]) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  return spawn(process.execPath, [FILE, ...args], { cwd: folder, env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } })
}

/** Runs `postrider` in a folder, as an operator does. */
async function run(folder: string, env: Readonly<Record<string, string>>, ...args: string[]) {
  const child = start(folder, env, ...args)
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
  const done = await run(folder, { DATABASE_URL: url, API_PORT: '28080' }, 'init', ...given)
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
      t.notOk('DATA_DIR' in settings, 'the file is also of hosts on which this folder is not')
      t.match(settings, {
        DELIVERY: 'mx',
        HELO_NAME: 'mail.ship.example',
        PUBLIC_URL: 'https://mail.ship.example',
        RETURNS_HOST: '0.0.0.0',
        TRUST_PROXY: '127.0.0.1',
        API_PORT: '28080',
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

  await t.test(
    'a database that has other accounts is refused, since their mail would go to the internet',
    async (t) => {
      const other = newFolder()
      const env = { DATABASE_URL: url, SECRET_KEY: secretOf(folder) }
      const { code, stderr } = await run(other, env, 'init', '--company', 'Other', '--domain', 'other.example')
      t.match({ code, stderr }, { code: 1, stderr: /has accounts already, such as "Harbor Shipping"/ })
      t.notOk(existsSync(join(other, 'postrider.env')))
    },
  )

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

  await t.test('an interrupted call leaves the key that the database has, which the next one uses', async (t) => {
    const [other, { url: empty, drop: end }] = [newFolder(), await makeEmptyDatabase()]
    t.teardown(end)
    const env = { DATABASE_URL: empty }
    const broken = await run(other, env, 'init', ...given, '--public-url', 'https://x.example/"a')
    t.match(broken, { code: 2, stdout: '', stderr: /--public-url must have no blanks or quotes/ })
    t.notOk(existsSync(join(other, 'postrider.env.draft')))
    const child = start(other, env, 'init', ...given)
    const draft = join(other, 'postrider.env.draft')
    const isWritten = () => existsSync(draft) && secretOf(other, 'postrider.env.draft') !== ''
    const closed = once(child, 'close')
    while (child.exitCode === null && !isWritten()) await setImmediate()
    child.kill('SIGKILL')
    await closed
    const key = secretOf(other, 'postrider.env.draft')
    t.match(key, /^[0-9a-f]{64}$/)
    t.match(await run(other, env, 'init', ...given), { code: 0, stdout: /^account 1$/m })
    t.equal(secretOf(other), key)
    t.notOk(existsSync(join(other, 'postrider.env.draft')))
  })

  await t.test(
    'a file of settings that another user could have written, or with a mistake, ends every command',
    async (t) => {
      const file = join(folder, 'postrider.env')
      const refused = async (why: string) => {
        const { code, stdout, stderr } = await run(folder, { DATABASE_URL: url }, 'account', 'list')
        t.strictSame({ code, stdout }, { code: 78, stdout: '' }, why)
        t.match(stderr, `postrider.env ${why}`)
      }
      chmodSync(file, 0o666)
      await refused('can be changed by others; chmod 600 postrider.env')
      t.equal((await run(folder, {}, '--version')).code, 0)
      renameSync(file, join(folder, 'kept'))
      symlinkSync(join(folder, 'kept'), file)
      await refused('is a symbolic link')
      rmSync(file)
      mkdirSync(file)
      await refused('is not a file of settings')
      rmdirSync(file)
      execFileSync('mkfifo', [file])
      await refused('is not a file of settings')
      rmSync(file)
      for (const [text, why] of [
        ['WORKERS=2\n\nLOG_LEVEL debug\n', 'has a wrong line 3: a setting is NAME=VALUE, without blanks'],
        ['export WORKERS=2\n', 'has a wrong line 1'],
        ['DELVIERY=mx\n', 'has a misspelt setting: DELVIERY is not a setting and has no effect; DELIVERY is one'],
      ] as const) {
        writeFileSync(file, text, { mode: 0o600 })
        await refused(why)
      }
      writeFileSync(file, '\ufeffWORKERS=2\n', { mode: 0o600 })
      const { stdout } = await run(folder, { DATABASE_URL: url }, 'settings', '--changed')
      t.match(stdout, /^WORKERS +2 +postrider\.env$/m)
    },
  )
})

const secretOf = (folder: string, name = 'postrider.env'): string =>
  /^SECRET_KEY=(.*)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1] ?? ''

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
    [
      ['--company', 'Harbor', '--domain', 'ship.example', '--public-url', 'mail'],
      2,
      '--public-url must be an http or https URL',
    ],
    [
      ['--company', 'Harbor', '--domain', 'ship.example', '--public-url', 'https://ship.example/v2'],
      2,
      '--public-url must not have a path that begins with /v2, as paths of the service itself do',
    ],
  ] as const) {
    const refused = await run(folder, {}, 'init', ...args)
    t.match(refused, { code, stdout: '' }, args.join(' '))
    t.match(refused.stderr, message)
  }
  for (const name of ['postrider.env', 'postrider.env.draft', 'data']) t.notOk(existsSync(join(folder, name)), name)
})

t.test('unit prints a systemd unit for this folder', async (t) => {
  const folder = newFolder()
  t.match(await run(folder, {}, 'unit'), {
    code: 1,
    stderr: /postrider\.env is not there, .*: run "postrider init" first/,
  })
  writeFileSync(join(folder, 'postrider.env'), 'DELIVERY=mx\n', { mode: 0o600 })
  const { stdout } = await run(folder, {}, 'unit')
  t.match(stdout, `WorkingDirectory=${folder}\n`)
  t.match(stdout, `EnvironmentFile=${folder}/postrider.env\n`)
  writeFileSync(join(folder, 'postrider.service'), stdout)
  const verified = spawnSync('systemd-analyze', ['verify', join(folder, 'postrider.service')], { encoding: 'utf8' })
  // Where there is no systemd, there is nothing that reads it.
  t.notMatch(verified.stderr ?? '', 'postrider.service')
})
