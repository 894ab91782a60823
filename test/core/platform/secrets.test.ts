import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCore, createLog, readConfig } from '@postrider/core'
import t from 'tap'
import { createSecrets, loadSecretKey, sameSecret } from '../../../packages/core/src/platform/security/secrets.ts'
import { BARE_ENVIRONMENT } from '../../helpers/processes.ts'
import { makeService } from '../../helpers/service.ts'

/** Of first starts at once. */
const ROUNDS = 100
const KEY = 'a secret key that only this test may know'
const secrets = createSecrets(KEY)
const plain = Buffer.from('a private key')
const box = secrets.seal(plain, 'dkim ship.example')

t.test('open answers what was sealed, also in another process with the same key', async (t) => {
  t.strictSame(createSecrets(KEY).open(box, 'dkim ship.example'), plain)
  const empty = secrets.seal(Buffer.alloc(0), '')
  t.equal(secrets.open(empty, '').length, 0)
})

t.test('the same text sealed twice looks different and tells nothing of the text', async (t) => {
  t.notSame(secrets.seal(plain, 'dkim ship.example'), box)
  t.equal(box.indexOf(plain), -1)
})

t.test('open throws when any one bit was altered', async (t) => {
  for (let bit = 0; bit < box.length * 8; bit++) {
    const altered = Buffer.from(box)
    altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
    t.throws(() => secrets.open(altered, 'dkim ship.example'), `bit ${bit}`)
  }
})

t.test('open throws when the box was cut or lengthened', async (t) => {
  for (let length = 0; length < box.length; length++) {
    t.throws(() => secrets.open(box.subarray(0, length), 'dkim ship.example'), `${length} octets`)
  }
  t.throws(() => secrets.open(Buffer.concat([box, Buffer.of(0)]), 'dkim ship.example'))
})

t.test('open throws under another context or another key', async (t) => {
  t.throws(() => secrets.open(box, 'dkim boat.example'))
  t.throws(() => secrets.open(box, ''))
  t.throws(() => createSecrets(`${KEY}.`).open(box, 'dkim ship.example'))
})

t.test('mac differs by key, purpose and data, and is the same every time', async (t) => {
  const mac = secrets.mac('return path', plain)
  t.equal(mac.length, 32)
  t.strictSame(createSecrets(KEY).mac('return path', plain), mac)
  t.notSame(secrets.mac('return paths', plain), mac)
  t.notSame(secrets.mac('return path', Buffer.from('A private key')), mac)
  t.notSame(createSecrets(`${KEY}.`).mac('return path', plain), mac)
})

t.test('with several keys, one makes values and all of them read', async (t) => {
  const NEW = 'the key that replaces it, of 32 characters'
  const both = createSecrets([NEW, KEY])
  const [fresh, former] = both.known as [string, string]
  t.equal(former, secrets.fingerprint)
  t.equal(both.use(former, undefined), true)
  t.equal(both.fingerprint, former)
  const pseudonym = secrets.pseudonym('audit address', plain)
  t.strictSame(both.pseudonym('audit address', plain), pseudonym)
  const thread = createSecrets(both.shared)
  t.strictSame(thread.sealFixed(plain, 'x'), secrets.sealFixed(plain, 'x'))
  const kept = both.sealPseudonymKeys()

  t.equal(both.use(fresh, kept), true)
  t.strictSame(both.open(box, 'dkim ship.example'), plain)
  t.equal(both.isCurrent(box, 'dkim ship.example'), false)
  t.throws(() => secrets.open(both.seal(plain, 'x'), 'x'), 'new values need the new key')
  t.strictSame(thread.sealFixed(plain, 'x'), createSecrets(NEW).sealFixed(plain, 'x'), 'threads follow')
  for (const one of [secrets, both])
    t.ok(both.isMac('return path', plain, one.mac('return path', plain).subarray(0, 10)))
  t.notOk(both.isMac('return path', plain, createSecrets(`${KEY}.`).mac('return path', plain)))
  t.notOk(both.isMac('return path', plain, Buffer.alloc(0)))
  t.strictSame(both.pseudonym('audit address', plain), pseudonym, 'pseudonyms stay')

  const alone = createSecrets(NEW)
  t.equal(alone.use(former, kept), false)
  t.equal(alone.use(fresh, kept), true)
  t.strictSame(alone.pseudonym('audit address', plain), pseudonym, 'also without the former key')
  t.throws(() => alone.open(box, 'dkim ship.example'))
})

t.test('the fingerprint tells keys apart and does not hold the key', async (t) => {
  t.equal(createSecrets(KEY).fingerprint, secrets.fingerprint)
  t.not(createSecrets(`${KEY}.`).fingerprint, secrets.fingerprint)
  t.match(secrets.fingerprint, /^[0-9a-f]{32}$/)
})

t.test('sameSecret compares, and takes different lengths for different', async (t) => {
  t.equal(sameSecret(plain, Buffer.from(plain)), true)
  t.equal(sameSecret(plain, Buffer.from('A private key')), false)
  t.equal(sameSecret(plain, plain.subarray(1)), false)
  t.equal(sameSecret(Buffer.alloc(0), Buffer.alloc(0)), true)
})

t.test('SECRET_KEY wins over the file, and no file is made', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-secrets-'))
  t.equal(loadSecretKey(KEY, folder), KEY)
  t.strictSame(readdirSync(folder), [])
})

t.test('without SECRET_KEY a key is made once, in a file only its owner can read', async (t) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'postrider-secrets-')), 'not', 'made', 'yet')
  const key = loadSecretKey(undefined, folder)
  t.ok(Buffer.from(key, 'base64url').length >= 32, 'at least 32 random octets')
  t.strictSame(readdirSync(folder), ['secret-key'], 'nothing else is left')
  t.equal(statSync(join(folder, 'secret-key')).mode & 0o777, 0o600)
  t.equal(loadSecretKey(undefined, folder), key, 'a later start reads the same')
})

t.test('first starts at once agree on one key', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-secrets-'))
  const [one = [], ...others] = await Promise.all(Array.from({ length: 4 }, () => loadInProcess(folder)))
  t.equal(one.length, ROUNDS)
  t.equal(new Set(one).size, ROUNDS)
  for (const other of others) t.strictSame(other, one)
  t.strictSame(readdirSync(join(folder, '0')), ['secret-key'])
})

t.test(
  'a service with another SECRET_KEY than the database was set up with is not ready and says what to do',
  async (t) => {
    const service = await makeService(t)
    const stranger = createCore({
      sql: service.sql,
      config: readConfig({ ...service.env, SECRET_KEY: 'another secret key, of thirty-two characters and more' }),
      log: createLog('test', 'silent'),
    })
    t.teardown(() => stranger.readiness.close())
    const { ready, reasons } = await stranger.readiness.check()
    t.equal(ready, false)
    t.match(reasons.join(), /SECRET_KEY differs from the one this database was set up with.*DATA_DIR\/secret-key/)
    t.match(await service.core.readiness.check(), { ready: true, reasons: [] }, 'the first host stays ready')
  },
)

t.test('of two hosts that set up one database at once with different keys, one stays out', async (t) => {
  const service = await makeService(t)
  // Its core looks each second, and would set the database up with its own key.
  service.core.readiness.close()
  await service.sql`delete from instance`
  const watches = ['one', 'two'].map((name) => {
    const config = readConfig({ ...service.env, SECRET_KEY: `secret key ${name} of thirty-two characters and more` })
    const core = createCore({ sql: service.sql, config, log: createLog('test', 'silent') })
    t.teardown(() => core.readiness.close())
    return core.readiness
  })
  const states = await Promise.all(watches.map((watch) => watch.check()))
  t.strictSame(states.map(({ ready }) => ready).sort(), [false, true])
})

/** What a process of its own takes for the key in each of so many folders; all processes come to each folder at the same time. */
async function loadInProcess(folder: string): Promise<string[]> {
  const code = `import { loadSecretKey } from './packages/core/src/platform/security/secrets.ts'
    const keys = []
    const start = Math.ceil(Date.now() / 2000 + 0.5) * 2000
    for (let round = 0; round < ${ROUNDS}; round++) {
      while (Date.now() < start + round * 4);
      keys.push(loadSecretKey(undefined, process.argv[1] + '/' + round))
    }
    process.stdout.write(JSON.stringify(keys))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, folder], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: BARE_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  return JSON.parse(output) as string[]
}
