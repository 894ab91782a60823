import { createCore, createLog, requireScope, ServiceError } from '@postrider/core'
import t, { type Test } from 'tap'
import { moveClock } from '../../../helpers/database.ts'
import { makeService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { refused } from '../../refused.ts'
import { acceptMessage } from '../../submission.ts'

/** The promise of every process. */
const WITHIN_MS = 5000

const service = await makeService(t)
const { auth, accounts } = service.core

/** What another process of this installation has: caches of its own over the same database. */
function anotherProcess(t: Test) {
  const core = createCore({ sql: service.sql, config: service.config, log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  return core
}

t.test('a key is told once: neither the list nor the database has it', async (t) => {
  const { accountId } = await service.makeSender()
  const { key, secret } = await auth.createKey({ accountId, name: 'shop' })
  t.match(secret, /^pr_[0-9A-Za-z]{33}$/)
  t.match(key, { accountId, name: 'shop', prefix: secret.slice(0, 9), scopes: ['all'], networks: [], revokedAt: null })
  t.notMatch(JSON.stringify(await auth.listKeys(accountId)), secret)
  const rows = await service.sql`select api_keys::text as row from api_keys where id = ${key.id}`
  t.equal(rows.length, 1)
  t.notMatch(rows[0]?.row, secret.slice(9))
})

t.test('keys that are presented together belong each to their own account, and a revoked one to none', async (t) => {
  const senders = await Promise.all(Array.from({ length: 12 }, () => service.makeSender()))
  const keys = await Promise.all(senders.map(({ accountId }) => auth.createKey({ accountId })))
  await auth.revokeKey((keys[3] as { key: { id: number } }).key.id)
  const present = ({ secret }: { secret: string }) =>
    auth.authenticate(secret, '192.0.2.7').then(
      ({ account, keyId }) => [account.id, keyId],
      (error: ServiceError) => error.errorName,
    )
  t.strictSame(
    await Promise.all([...keys].reverse().map(present)),
    senders.map(({ accountId }, at) => (at === 3 ? 'keyInvalid' : [accountId, keys[at]?.key.id])).reverse(),
  )
})

t.test('listKeys answers the keys of that account only, oldest first, revoked ones too', async (t) => {
  const [one, other] = [await service.makeSender(), await service.makeSender()]
  const second = await auth.createKey({ accountId: one.accountId })
  await auth.revokeKey(second.key.id)
  const listed = await auth.listKeys(one.accountId)
  t.equal(listed.length, 2)
  t.strictSame(
    listed.map(({ id }) => id),
    listed.map(({ id }) => id).toSorted((a, b) => a - b),
  )
  t.match(listed[1], { id: second.key.id, revokedAt: Date })
  t.equal((await auth.listKeys(other.accountId)).length, 1)
})

/** What can't be a key's limits. */
const WRONG = [
  ['an unknown account', { accountId: 2_000_000_000 }, /\[account\].*does not exist/],
  ['an unknown scope', { scopes: ['send', 'admin'] }, /\[scopes\]/],
  ['a network that is none', { networks: ['10.0.0.0/8', '10.0.0'] }, /\[networks\].*"10\.0\.0"/],
  ['a network too long', { networks: ['2001:db8::/129'] }, /\[networks\]/],
  ['a host name', { networks: ['office.example'] }, /\[networks\]/],
] as const

for (const [what, extra, said] of WRONG) {
  t.test(`createKey refuses ${what}, and makes nothing`, async (t) => {
    const { accountId } = await service.makeSender()
    const made = auth.createKey({ accountId, ...extra })
    await t.rejects(made, ServiceError)
    await made.catch((error: Error) => t.match(error.message, said))
    t.equal((await auth.listKeys(accountId)).length, 1)
  })
}

t.test('authenticate refuses in the order of the contract: missing, invalid, address', async (t) => {
  const { accountId, apiKey } = await service.makeSender()
  const networks = ['10.1.0.0/16', '2001:db8::/32', '192.0.2.7']
  const { key, secret } = await auth.createKey({ accountId, networks })
  const last = apiKey.at(-1) === 'a' ? 'b' : 'a'
  const cases = [
    [undefined, '127.0.0.1', 'keyMissing'],
    ['', '127.0.0.1', 'keyMissing'],
    ['pr_short', '127.0.0.1', 'keyInvalid'],
    [`${apiKey.slice(0, -1)}${last}`, '127.0.0.1', 'keyInvalid'],
    [apiKey.toLowerCase(), '127.0.0.1', 'keyInvalid'],
    [` ${apiKey}`, '127.0.0.1', 'keyInvalid'],
    [apiKey, '127.0.0.1', undefined],
    [apiKey, '2001:db8::1', undefined],
    [secret, '10.1.255.255', undefined],
    [secret, '192.0.2.7', undefined],
    [secret, '2001:db8:ffff::1', undefined],
    [secret, '10.2.0.1', 'addressNotAllowed'],
    [secret, '192.0.2.8', 'addressNotAllowed'],
    [secret, '2001:db9::1', 'addressNotAllowed'],
    [secret, '', 'addressNotAllowed'],
  ] as const
  for (const [shown, address, expected] of cases) {
    t.equal(await refused(auth.authenticate(shown, address)), expected, `${shown?.slice(0, 6)} from ${address}`)
  }
  t.match(await auth.authenticate(secret, '192.0.2.7'), { account: { id: accountId }, keyId: key.id, expired: false })
})

t.test('a revoked key that no process has seen is refused at once', async (t) => {
  const { accountId } = await service.makeSender()
  const { key, secret } = await auth.createKey({ accountId })
  await auth.revokeKey(key.id)
  t.equal(await refused(auth.authenticate(secret, '127.0.0.1')), 'keyInvalid')
})

t.test(
  'a revoked key in use everywhere is refused by every process within five seconds, the others go on',
  async (t) => {
    const { accountId, apiKey } = await service.makeSender()
    const { key, secret } = await auth.createKey({ accountId })
    const others = [service.core, anotherProcess(t)]
    for (const core of others) await core.auth.authenticate(secret, '127.0.0.1')
    const { revokedAt } = await anotherProcess(t).auth.revokeKey(key.id)
    await Promise.all(
      others.map(async (core) => {
        const gone = async () => (await refused(core.auth.authenticate(secret, '127.0.0.1'))) === 'keyInvalid'
        await until('the refusal', gone, WITHIN_MS)
        t.equal(await refused(core.auth.authenticate(apiKey, '127.0.0.1')), undefined)
      }),
    )
    t.strictSame((await auth.revokeKey(key.id)).revokedAt, revokedAt, 'revoking it again changes nothing')
    t.equal(await refused(auth.revokeKey(2_000_000_000)), 'keyUnknown')
  },
)

t.test('a key in use asks the database once in a while, not each time', async (t) => {
  const sender = await service.makeSender()
  const core = anotherProcess(t)
  await core.auth.authenticate(sender.apiKey, '127.0.0.1')
  await service.sql`alter table api_keys rename to api_keys_away`
  try {
    for (let time = 0; time < 100; time++) await core.auth.authenticate(sender.apiKey, '127.0.0.1')
    await t.rejects(anotherProcess(t).auth.authenticate(sender.apiKey, '127.0.0.1'), { code: '42P01' })
  } finally {
    await service.sql`alter table api_keys_away rename to api_keys`
  }
})

t.test('what is done to an account holds in another process within five seconds, and so does its end', async (t) => {
  const sender = await service.makeSender()
  const other = { ...service, core: anotherProcess(t) }
  await other.core.readiness.check()
  const accept = () => refused(acceptMessage(other, sender))
  const becomes = (expected: string | undefined) =>
    until(String(expected), async () => (await accept()) === expected, WITHIN_MS)

  t.equal(await accept(), undefined)
  await accounts.suspend(sender.accountId)
  await becomes('accountSuspended')
  await accounts.resume(sender.accountId)
  await becomes(undefined)
  await accounts.expire(sender.accountId, null)
  await becomes('accountExpired')
  await accounts.expire(sender.accountId, new Date(Date.now() + 3_600_000))
  await becomes(undefined)
  await moveClock(service.sql, '2 hours')
  await becomes('accountExpired')
  await moveClock(service.sql, '0 hours')
})

t.test('requireScope lets through what the key has, and all with the scope of all', async (t) => {
  const { accountId, apiKey } = await service.makeSender()
  const { secret } = await auth.createKey({ accountId, scopes: ['send'] })
  const none = await auth.createKey({ accountId, scopes: [] })
  for (const [shown, expected] of [
    [apiKey, undefined],
    [secret, undefined],
    [none.secret, 'scopeMissing'],
  ] as const) {
    const principal = await auth.authenticate(shown, '127.0.0.1')
    t.equal(await refused((async () => requireScope(principal, 'send'))()), expected)
  }
})
