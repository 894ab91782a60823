import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const { env, core, ...service } = await makeService(t, { WEBHOOK_PRIVATE_NETWORKS: 'allow' })
const sender = await service.makeSender()
const account = ['--account', String(sender.accountId)]

t.test('subaccounts are created, listed, changed, given credit, disabled and deleted', async (t) => {
  const run = (...args: string[]) => answered<Record<string, unknown>>(env, 'subaccount', ...args, ...account)
  const made = await run('create', 'dock2', '--email', 'd2@ship.example', '--credit', 'one-time')
  t.match(made, { username: 'dock2', creditType: 'one_time_credit', disabled: false, apiKey: /^pr_/ })
  t.match(await run('credit', 'dock2', '--add', '500'), { available: 500 })
  t.match(await run('credit', 'dock2', '--take', '100'), { available: 400 })
  t.match(await run('update', 'dock2', '--email', 'dock@ship.example'), { email: 'dock@ship.example' })
  t.match(await run('disable', 'dock2'), { disabled: true })
  t.match(
    (await postrider(env, 'subaccount', 'list', ...account)).stdout,
    /^dock2 +\d+ +dock@ship.example +disabled +400 +0$/m,
  )
  t.match(await run('enable', 'dock2'), { disabled: false })
  await run('delete', 'dock2', '--yes')
  t.match(await run('list'), { total: 0 })
  const { code, stderr } = await postrider(env, 'subaccount', 'delete', 'dock2', '--yes', ...account)
  t.equal(code, 1)
  t.match(stderr, /^postrider: .*subaccount/i)
})

t.test('webhooks are created, tested, changed, rotated and deleted', async (t) => {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end('ok')))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.teardown(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const run = (...args: string[]) => answered<Record<string, unknown>>(env, 'webhook', ...args, ...account)
  const made = await run('create', '--url', url, '--events', 'sent,bounced')
  t.match(made, { url, enabled: true, secret: /^whsec_/ })
  const id = String(made.id)
  t.match(await run('test', id), { status: 200, answer: 'ok' })
  t.notSame((await run('rotate', id)).secret, made.secret)
  t.match(await run('update', id, '--enabled', 'off', '--header', 'X-A: b', '--header', 'Authorization: Bearer x:y'), {
    enabled: false,
    headers: { 'X-A': 'b', Authorization: 'Bearer x:y' },
  })
  const { stdout } = await postrider(env, 'webhook', 'show', id, ...account)
  t.match(stdout, /^header fields +X-A Authorization$/m)
  t.notMatch(stdout, 'Bearer', 'a value may be a password')
  t.match(await run('update', id, '--clear-headers', '--signed', 'off', '--strings', 'on'), {
    headers: {},
    signed: false,
    asText: true,
  })
  t.match((await postrider(env, 'webhook', 'list', ...account)).stdout, /^\d+ +http.* +disabled +never$/m)
  t.same(await run('deliveries', id), [])
  t.match(await run('failures', id), { total: 0 })
  await run('delete', id, '--yes')
  t.match(
    (await postrider(env, 'webhook', 'test', id, ...account)).stderr,
    /has no webhook \d+; "webhook list" lists them/,
  )
})

t.test('a recipient is exported and erased', async (t) => {
  const run = (...args: string[]) => answered<Record<string, unknown>>(env, 'person', ...args, ...account)
  await core.suppressions.addAll({
    accountId: sender.accountId,
    emails: ['lena@harbor.example'],
    reason: 'manual',
  })
  t.match(await run('export', '--email', 'lena@harbor.example'), {
    deliveries: [],
    suppressions: [{ reason: 'manual' }],
  })
  const { id } = await run('forget', 'lena@harbor.example', '--yes')
  t.match(id, /^gd_[0-9a-f]{32}$/)
  t.match(await run('status', String(id)), { state: 'queued', emails: 1 })
  t.match((await postrider(env, 'person', 'status', 'gd_1', ...account)).stderr, /^postrider: /)
})

t.test('a domain gets a new DKIM key and one of its owner, is shared and deleted', async (t) => {
  const keys = ({ dns }: { dns: { purpose: string }[] }) => dns.filter(({ purpose }) => purpose === 'dkim').length
  const before = await answered<{ dns: { purpose: string }[] }>(env, 'domain', 'dns', sender.domain)
  const after = await answered<{ dns: { purpose: string }[] }>(env, 'domain', 'rotate', sender.domain)
  t.equal(keys(after), keys(before) + 1)
  t.match(await answered(env, 'domain', 'share', sender.domain, 'on'), { shared: true })
  t.match(await postrider(env, 'domain', 'share', sender.domain), { code: 2, stderr: /missing argument: on or off/ })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const file = join(env.DATA_DIR as string, 'own.pem')
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const own = await answered(env, 'domain', 'set-key', sender.domain, '--selector', 'own1', '--file', file)
  t.match(own, { warnings: [/1024 bits/] })
  t.match(await postrider(env, 'domain', 'dns', sender.domain), { stdout: /own1\._domainkey/ })
  t.match(await answered(env, 'domain', 'delete', sender.domain, '--yes'), { deleted: sender.domain })
  t.match(
    (await postrider(env, 'domain', 'delete', sender.domain, '--yes')).stderr,
    /not found; "domain list" lists all domains/,
  )
})
