import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '@postrider/core'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { recordStatements } from '../helpers/statements.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service
const sender = await service.makeSender()
const account = String(sender.accountId)

t.test('a command for one account looks for this one, and does not read all accounts', async (t) => {
  const recorder = await recordStatements(t, env.DATABASE_URL as string)
  const recorded = { ...env, DATABASE_URL: recorder.url }
  for (const args of [
    ['key', 'list', '--account', account],
    ['events', '--account', account],
    ['message', 'list', '--account', account],
    ['subaccount', 'create', 'dock2', '--account', account, '--email', 'd2@ship.example'],
  ]) {
    recorder.clear()
    t.equal((await postrider(recorded, ...args)).code, 0, args.join(' '))
    const whole = recorder.statements().filter(({ text }) => /from accounts\s+order by/.test(text))
    t.strictSame(whole, [], args.join(' '))
  }
})

t.test('accounts are created, listed, suspended, resumed and expired', async (t) => {
  const made = await answered<{ accountId: number; apiKey: string }>(
    env,
    'account',
    'create',
    '--name',
    'Harbor & Söhne',
  )
  t.strictSame(Object.keys(made), ['accountId', 'apiKey'])
  t.type(made.accountId, 'number')
  t.equal((await service.core.auth.authenticate(made.apiKey, '127.0.0.1')).account.id, made.accountId)
  const id = String(made.accountId)
  t.match(await answered(env, 'account', 'suspend', id), { id: made.accountId, state: 'suspended' })
  t.match(await answered(env, 'account', 'resume', '--account', id), { state: 'active' })
  t.match(await answered(env, 'account', 'expire', id, '--at', '2030-01-31T12:00:00Z'), {
    expiresAt: '2030-01-31T12:00:00.000Z',
  })
  const { expiresAt } = await answered<{ expiresAt: string }>(env, 'account', 'expire', id)
  t.ok(Math.abs(Date.parse(expiresAt) - Date.now()) < 60_000, 'without --at: now')
  const listed = await answered<{ id: number }[]>(env, 'account', 'list')
  t.match(
    listed.find((found) => found.id === made.accountId),
    { name: 'Harbor & Söhne', state: 'expired' },
  )
  t.match((await postrider(env, 'account', 'list')).stdout, new RegExp(`^${id} +Harbor & Söhne +expired +2`, 'm'))
  t.match(await answered<object[]>(env, 'account', 'list'), [{ id: sender.accountId, state: 'active' }])
})

t.test('credits are limited, granted, shown and made unlimited', async (t) => {
  const { accountId } = await service.makeSender()
  const id = String(accountId)
  t.match(await answered(env, 'credits', 'show', id), { accountId, limited: false, available: null })
  t.match(await answered(env, 'credits', 'limited', id, '--amount', '5'), { limited: true, available: 5 })
  t.match(await answered(env, 'credits', 'grant', '--account', id, '--amount', '7'), { available: 12 })
  t.match((await postrider(env, 'credits', 'show', id)).stdout, `account ${id} has 12 credits left`)
  t.match((await postrider(env, 'credits', 'unlimited', id)).stdout, `account ${id} has no credit limit`)
  t.match(await postrider(env, 'credits', 'grant', id, '--amount', '7'), {
    code: 1,
    stderr: /the account has no limit/,
  })
  t.match(await postrider(env, 'credits', 'show', '999999'), {
    code: 1,
    stderr: /^postrider: account: does not exist/,
  })
  t.match(await postrider(env, 'credits', 'grant', id, '--amount', 'many'), { code: 2, stderr: /whole number/ })
})

t.test('limiting an account shows the credit that its subaccounts keep', async (t) => {
  const { accountId } = await service.makeSender()
  const { subaccounts, accounts } = service.core
  const account = (await accounts.list()).find(({ id }) => id === accountId) as Account
  for (const [username, amount] of [
    ['dock', 1_000_000],
    ['quay', 0],
  ] as const) {
    await subaccounts.create(account, {
      username,
      email: 'd@ship.example',
      password: undefined,
      creditType: 'one_time_credit',
    })
    if (amount > 0) await subaccounts.increase(accountId, username, amount)
  }
  const { stdout } = await postrider(env, 'credits', 'limited', String(accountId), '--amount', '100')
  t.match(stdout, `account ${accountId} has 100 credits left\n1 subaccount has 1000000 credits of its own`)
  t.match(await answered(env, 'credits', 'show', String(accountId)), {
    available: 100,
    heldBySubaccounts: { subaccounts: 1, available: 1_000_000 },
  })
})

t.test('keys are created with their limits, listed without the secret, and revoked', async (t) => {
  const made = await answered<{ keyId: number; apiKey: string }>(
    env,
    'key',
    'create',
    '--account',
    account,
    '--name',
    'shop',
    '--ip',
    '10.1.0.0/16',
    '--ip',
    '2001:db8::/32',
    '--scope',
    'send',
  )
  t.strictSame(Object.keys(made), ['keyId', 'apiKey'])
  const listed = await postrider(env, 'key', 'list', '--account', account, '--json')
  t.notMatch(listed.stdout, made.apiKey)
  t.match(
    (JSON.parse(listed.stdout) as { id: number }[]).find(({ id }) => id === made.keyId),
    { name: 'shop', networks: ['10.1.0.0/16', '2001:db8::/32'], scopes: ['send'], revokedAt: null },
  )
  t.match(await answered(env, 'key', 'revoke', String(made.keyId), '--yes'), { id: made.keyId, revokedAt: /^20/ })
  const text = (await postrider(env, 'key', 'list', '--account', account)).stdout
  t.match(text, new RegExp(`^${made.keyId} .*shop .*revoked 20`, 'm'))
  t.notMatch(text, made.apiKey)
})

t.test('keys get restrictions, lose them, and are rotated with an overlap', async (t) => {
  const made = await answered<{ keyId: number; apiKey: string }>(
    env,
    'key',
    'create',
    '--account',
    account,
    '--template',
    '5',
    '--template',
    '6',
    '--sender-domain',
    'Quay.example',
    '--recipient-domain',
    'harbor.example',
    '--recipients-per-hour',
    '50',
    '--until',
    '2031-01-01T00:00:00Z',
  )
  const id = String(made.keyId)
  const restrictions = {
    templates: [5, 6],
    senderDomains: ['quay.example'],
    recipientDomains: ['harbor.example'],
    recipientsPerHour: 50,
    callsPerMinute: null,
    until: '2031-01-01T00:00:00.000Z',
  }
  t.match(
    (await answered<{ id: number }[]>(env, 'key', 'list', '--account', account)).find(({ id }) => id === made.keyId),
    { restrictions },
  )
  const text = (await postrider(env, 'key', 'list', '--account', account)).stdout
  t.match(text, /template 5,6; sender-domain quay\.example; .*recipients-per-hour 50 +never +active until 2031-/)
  const changed = await answered(
    env,
    'key',
    'update',
    id,
    '--calls-per-minute',
    '9',
    '--class',
    'bulk',
    '--ip',
    '10.0.0.0/8',
    '--lift',
    'template',
    '--lift',
    'until',
  )
  t.match(changed, {
    networks: ['10.0.0.0/8'],
    restrictions: { ...restrictions, templates: null, until: null, callsPerMinute: 9, class: 'bulk' },
  })
  t.match(await answered(env, 'key', 'update', id, '--lift', 'ip', '--name', 'till'), { name: 'till', networks: [] })
  const next = await answered<{ keyId: number; apiKey: string }>(env, 'key', 'rotate', id, '--overlap-hours', '2')
  t.match(next, { apiKey: /^pr_/, replaced: { id: made.keyId, replacedBy: next.keyId, expired: false } })
  t.match(
    (await postrider(env, 'key', 'rotate', String(next.keyId), '--overlap-hours', '0', '--yes')).stdout,
    /key \d+ revoked 20/,
  )
  const entries = await service.core.audit.list(sender.accountId, { after: 0, limit: 1000 })
  t.match(entries.slice(-4), [
    { action: 'key.update', keyId: null, after: { callsPerMinute: 9, class: 'bulk' } },
    { action: 'key.update', after: { name: 'till' } },
    { action: 'key.rotate', object: `key ${id}`, after: { replacedBy: next.keyId, overlapHours: 2 } },
    { action: 'key.rotate', object: `key ${next.keyId}` },
  ])
})

t.test('an account gets limits, shows them, and loses them', async (t) => {
  t.match(await answered(env, 'account', 'limit', account, '--sends', '100', '--calls', '50'), {
    sendsPerMinute: 100,
    callsPerMinute: 50,
  })
  const text = (await postrider(env, 'account', 'limit', account)).stdout
  t.match(text, /: messages 100 per minute, other API calls 50 per minute$/m)
  const none = await answered(env, 'account', 'limit', account, '--sends', 'default', '--calls', 'default')
  t.strictSame(none, { sendsPerMinute: null, callsPerMinute: null })
})

t.test('domains are added with their records, shown, listed and activated', async (t) => {
  const added = await answered<{ dns: { purpose: string }[] }>(
    env,
    'domain',
    'add',
    '--account',
    account,
    'Quay.example',
  )
  t.match(added, { name: 'quay.example', accountId: sender.accountId, state: 'pending' })
  t.strictSame(
    added.dns.map(({ purpose }) => purpose),
    ['dkim', 'spf', 'returnPath', 'dmarc'],
  )
  t.strictSame(await answered(env, 'domain', 'dns', 'quay.example'), added)
  const { stdout } = await postrider(env, 'domain', 'add', '--account', account, 'berth.example')
  t.match(stdout, /^Publish these records\..*"domain check berth\.example" checks them now\.$/m)
  t.match(await answered(env, 'domain', 'activate', 'quay.example'), { state: 'active', dns: added.dns })
  const active = await answered(env, 'domain', 'add', '--account', account, 'pier.example', '--active')
  t.match(active, { name: 'pier.example', state: 'active' })
  const listed = await answered<{ name: string }[]>(env, 'domain', 'list', '--account', account)
  t.strictSame(
    listed.map(({ name }) => name).sort(),
    ['berth.example', 'pier.example', 'quay.example', sender.domain].sort(),
  )
  t.match(
    (await postrider(env, 'domain', 'dns', 'pier.example')).stdout,
    /^dkim +TXT +pr1-[a-z0-9]{6}\._domainkey\.pier\.example +v=/m,
  )
})

t.test('a check of a domain shows the refusals of providers that are about it', async (t) => {
  const { core } = service
  const domain = await core.domains.add({ accountId: sender.accountId, name: 'jetty.example' })
  const reply = '550 5.7.26 Your email has been blocked because the sender is unauthenticated'
  await core.domains.noteFinding(domain.id, { place: 'google', code: '5.7.26', reply })
  await core.domains.noteFinding(domain.id, { place: 'google', code: '5.7.26', reply })
  const checked = await answered<{ findings: unknown[] }>(env, 'domain', 'check', 'jetty.example')
  t.match(checked.findings, [{ place: 'google', code: '5.7.26', reply, count: 2 }])
  const { stdout } = await postrider(env, 'domain', 'check', 'jetty.example')
  t.match(stdout, /^Providers refused mail because of this domain .*\n\n.*\n.*google +5\.7\.26 +2 /m)
})

t.test('templates are stored', async (t) => {
  const file = join(service.config.dataDir, 'welcome.html')
  writeFileSync(file, '<p>Welcome, [%NAME%]</p>')
  const made = await answered<{ templateId: number }>(
    env,
    'template',
    'create',
    '--account',
    account,
    '--name',
    'welcome',
    '--file',
    file,
  )
  t.match(await service.core.templates.find(sender.accountId, made.templateId), { content: '<p>Welcome, [%NAME%]</p>' })
})

t.test('setup makes the demo account of a new installation once', async (t) => {
  const fresh = await makeService(t)
  const first = await answered<{ apiKey: string }>(fresh.env, 'setup')
  t.match(first.apiKey, /^pr_/)
  t.strictSame(await answered(fresh.env, 'setup'), { apiKey: null })
  t.strictSame(await answered(fresh.env, 'migrate'), { migrated: true })
  t.match(await fresh.core.domains.list(), [{ name: 'demo.example', state: 'active' }])
})
