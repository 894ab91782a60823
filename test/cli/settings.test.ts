import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { misspeltSettings, SETTINGS } from '@postrider/core'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider, postriderProcess } from './postrider.ts'

const { env, ...service } = await makeService(t)

t.test('a command names variables that look like misspelt settings, and works', async (t) => {
  const misspelt = { DATABSE_URL: 'x', postrider_log_level: 'x', RELAYPORT: '1', BODY_DAY: '1', SINGUP: 'x' }
  const { code, stderr } = await postrider({ ...env, ...misspelt }, 'account', 'list')
  t.equal(code, 0)
  t.strictSame(stderr.trim().split('\n'), [
    'postrider: DATABSE_URL is not a setting and has no effect; DATABASE_URL is one',
    'postrider: postrider_log_level is not a setting and has no effect; LOG_LEVEL is one',
    'postrider: RELAYPORT is not a setting and has no effect; RELAY_PORT is one',
    'postrider: BODY_DAY is not a setting and has no effect; BODY_DAYS is one',
    'postrider: SINGUP is not a setting and has no effect; SIGN_UP is one',
  ])
})

t.test('neither settings nor the variables of others look misspelt', async (t) => {
  t.strictSame(misspeltSettings(Object.fromEntries(SETTINGS.map(({ name }) => [name, '1']))), [])
  const others = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'LANG',
    'TERM',
    'USER',
    'PWD',
    'SHLVL',
    'TZ',
    'NODE_ENV',
    'NODE_OPTIONS',
    'PORT',
    'HOST',
    'XDG_DATA_DIRS',
    'PGHOST',
    'PGPORT',
    'PGUSER',
    'POSTGRES_PASSWORD',
    'REDIS_URL',
    'SMTP_HOST',
    'SMTP_PORT',
    'API_KEY',
    'LOGNAME',
    'MAIL',
    'MAIL_HOST',
    'HTTP_PROXY',
    'NO_PROXY',
    'SSL_CERT_FILE',
    'AWS_SECRET_KEY',
    'DEBUG',
    'CI',
    'TMPDIR',
    'TEST_DATABASE_URL',
  ]
  t.strictSame(misspeltSettings(Object.fromEntries(others.map((name) => [name, '1']))), [])
})

t.test('a command does not create a database where there is none, and says where it looked', async (t) => {
  const folder = join(mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'none-')), 'data')
  const { DATABASE_URL: _, ...others } = env
  const { code, stderr } = await postrider({ ...others, DATA_DIR: folder }, 'account', 'list')
  t.equal(code, 78)
  t.match(stderr, `DATA_DIR has no database (${folder}): set it to the folder of the installation, or set DATABASE_URL`)
  t.notOk(existsSync(folder))
})

t.test('a time without a zone is UTC, whatever the time zone of the host', async (t) => {
  const account = String((await service.makeSender()).accountId)
  const args = ['key', 'create', '--account', account, '--until', '2030-01-31T12:00', '--json']
  const { stdout } = await postriderProcess({ ...env, TZ: 'Pacific/Auckland' }, ...args)
  const { keyId } = JSON.parse(stdout) as { keyId: number }
  const keys = await answered<{ id: number; restrictions: { until: string } }[]>(
    env,
    'key',
    'list',
    '--account',
    account,
  )
  t.equal(keys.find(({ id }) => id === keyId)?.restrictions.until, '2030-01-31T12:00:00.000Z')
})

t.test('settings shows what is in force and where it comes from, without secrets', async (t) => {
  const given = {
    ...env,
    SECRET_KEY: 'k'.repeat(40),
    DELIVERY: 'smtp://desk:pa%40ss@relay.example:587',
    S3_SECRET_ACCESS_KEY: 'hidden-1',
    DATABASE_READ_URL: 'postgres://reader:hidden-2@a.example,b.example/postrider?password=hidden-3&sslmode=require',
  }
  const all = await answered<{ name: string; value: string; source: string }[]>(given, 'settings')
  t.strictSame(
    all.map(({ name }) => name),
    SETTINGS.map(({ name }) => name),
  )
  const of = (name: string) => all.find((one) => one.name === name)
  t.match(of('DELIVERY'), { value: 'smtp://desk:***@relay.example:587', source: 'environment', default: 'sandbox' })
  t.match(of('DATABASE_READ_URL'), {
    value: 'postgres://reader:***@a.example,b.example/postrider?password=***&sslmode=require',
  })
  t.match(of('SECRET_KEY'), { value: '***' })
  t.match(of('WORKERS'), { value: '1', source: 'default' })
  const changed = await postrider(given, 'settings', '--changed')
  t.match(changed.stdout, /^S3_SECRET_ACCESS_KEY +\*\*\* +environment$/m)
  t.notMatch(changed.stdout, 'WORKERS')
  t.notMatch(JSON.stringify(all) + changed.stdout, /hidden|pa%40ss|kkk/)
})

t.test('up names settings that do not fit together, and starts nothing', async (t) => {
  const run = (more: Record<string, string>) => postriderProcess({ ...env, ...more }, 'up')
  for (const [more, message] of [
    [{ API_PORT: '2525', RELAY_PORT: '2525' }, 'RELAY_PORT must differ from API_PORT: both are 2525'],
    [
      { METRICS_PORT: '2466', RELAY_TLS_PORT: '2466', METRICS_HOST: '0.0.0.0' },
      'METRICS_PORT must differ from RELAY_TLS_PORT: both are 2466',
    ],
    [{ BACKUP_DIR: '/var/backups' }, 'BACKUP_DIR has no effect with DATABASE_URL'],
  ] as const) {
    const { code, stderr } = await run(more)
    t.equal(code, 78)
    t.match(stderr, message)
  }
})
