import t from 'tap'
import { call } from '../api/call.ts'
import { acceptMessage } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { passTime } from '../helpers/pass-time.ts'
import { makeService } from '../helpers/service.ts'
import { plainToken } from '../helpers/smtp-client.ts'
import { connectRelay } from '../relay/session.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env, core, sql } = service
const base = await service.openApi()
await service.openRelay()

interface Plan {
  readonly id: number
  readonly name: string
  readonly counts: Record<string, { count: number; partial: boolean }>
}

const refused = async (...args: string[]) => {
  const { code, stderr } = await postrider(env, 'account', ...args)
  return `${code} ${stderr.trim()}`
}
const planFor = (id: number, ...options: string[]) => answered<Plan>(env, 'account', 'delete', String(id), ...options)
const close = async (id: number, ...options: string[]) => {
  const { id: plan } = await planFor(id, ...options)
  return answered<{ state: string; removeAt: string }>(env, 'account', 'delete', '--confirm', String(plan))
}
/** Until no process knows keys as they were. */
const pass = () => passTime(5000)

t.test('a plan says what would be deleted and changes nothing; confirmed, it closes the account', async (t) => {
  const sender = await service.makeSender()
  const id = sender.accountId
  await acceptMessage(service, sender)
  const { stdout } = await postrider(env, 'account', 'delete', String(id))
  t.match(
    stdout,
    new RegExp(
      `^plan \\d+: delete account ${id}, "${sender.accountName}"; it is closed at once, and removed after 7 days$`,
      'm',
    ),
  )
  for (const row of [
    'messages in the queue +1',
    'messages +1',
    'domains +1',
    'members +0',
    'keys +1',
    'webhooks +0',
    'suppressions +0',
  ])
    t.match(stdout, new RegExp(`^${row}$`, 'm'))
  t.match(stdout, /^to execute it: postrider account delete --confirm \d+ \(until /m)
  t.equal((await core.accounts.find(id))?.closedAt, null)
  const [before] = await sql<{ now: Date }[]>`select service_now() as now`
  const { removeAt } = await close(id)
  const [after] = await sql<{ now: Date }[]>`select service_now() as now`
  const closedAt = Date.parse(removeAt) - 7 * 86_400_000
  t.ok(before && after && closedAt >= before.now.getTime() && closedAt <= after.now.getTime(), removeAt)
  t.ok((await core.accounts.find(id))?.closedAt)
  t.match((await postrider(env, 'account', 'list')).stdout, new RegExp(`^${id} .* closed`, 'm'))
  t.match((await postrider(env, 'account', 'deletions')).stdout, new RegExp(`^${id} +closed `, 'm'))
  for (const log of [0, id])
    t.match((await core.audit.latest(log, { limit: 1 }))[0], {
      action: 'account.delete',
      object: `account ${id}`,
      after: { name: sender.accountName },
    })
})

t.test('while it is closed, its keys, passwords and subaccounts are refused, and its mail waits', async (t) => {
  const sender = await service.makeSender()
  const id = String(sender.accountId)
  const made = await answered<{ apiKey: string }>(
    env,
    'subaccount',
    'create',
    'dock2',
    '--account',
    id,
    '--email',
    'd@ship.example',
  )
  await acceptMessage(service, sender)
  await close(sender.accountId)
  pass()
  for (const apiKey of [sender.apiKey, made.apiKey]) {
    const answer = await call(base, { path: '/v2/key', method: 'GET', headers: { api_key: apiKey } })
    t.match(answer, { status: 403, json: { error_info: { error_code: 115, error_message: 'Account is closed' } } })
    const client = await connectRelay(t, service, { tls: true })
    await client.command('EHLO client.test')
    t.match(await client.command(`AUTH PLAIN ${plainToken('apikey', apiKey)}`), /^5\d\d 5\.7\.1 .*[Aa]ccount is closed/)
  }
  const held = (await core.deliveries.limits.accountHolds()).map(({ accountId, rate }) => `${accountId} ${rate}`)
  t.ok(held.includes(`${id} null`) && held.includes(`${sender.accountId + 1} null`), 'workers hold the mail of both')
  await answered(env, 'account', 'restore', id)
  t.notOk((await core.deliveries.limits.accountHolds()).some(({ accountId }) => accountId === sender.accountId))
  pass()
  t.equal((await call(base, { path: '/v2/key', method: 'GET', headers: { api_key: sender.apiKey } })).status, 200)
  t.match((await core.audit.latest(0, { limit: 1 }))[0], { action: 'account.restore', object: `account ${id}` })
})

t.test('what cannot be deleted, confirmed or restored is refused with words, and nothing changes', async (t) => {
  t.teardown(() => moveClock(sql, '0'))
  const { accountId } = await service.makeSender()
  const id = String(accountId)
  t.match(await refused('delete'), /^2 .*account id/)
  t.match(await refused('delete', '999999'), /^1 .*account: does not exist/)
  t.match(await refused('delete', 'Harbor'), /^2 .*account id must be a number/)
  t.match(await refused('delete', id, '--grace-days', '91'), /^1 .*grace-?[dD]ays.*from 0 to 90/)
  t.match(await refused('delete', id, '--grace-days', '-1'), /^2 .*grace-days/)
  t.match(await refused('delete', '--confirm', '999999'), /^1 .*plan 999999 of account delete not found/)
  t.match(await refused('delete', '--confirm', 'x'), /^2 .*--confirm must be the number of a plan/)
  t.match(await refused('delete', id, '--confirm', '1'), /^2 .*cannot be combined with --confirm/)
  t.match(await refused('restore', id), /^1 .*account: is not closed/)
  t.match(await refused('restore', '999999'), /^1 .*account: does not exist/)
  await answered(env, 'subaccount', 'create', 'dock9', '--account', id, '--email', 'd@ship.example')
  t.match(await refused('delete', String(accountId + 1)), /^1 .*account: is a subaccount/)
  const [old, second] = [await planFor(accountId), await planFor(accountId)]
  await moveClock(sql, '11 minutes')
  t.match(await refused('delete', '--confirm', String(old.id)), /^1 .*has expired; make a new one/)
  await moveClock(sql, '0')
  await answered(env, 'account', 'delete', '--confirm', String(old.id))
  t.match(await refused('delete', '--confirm', String(old.id)), /^1 .*was already confirmed/)
  t.match(await refused('delete', '--confirm', String(second.id)), /^1 .*is closed already/)
  t.match(await refused('delete', id), /^1 .*account: is closed already/)
  await moveClock(sql, '7 days 1 minute')
  while (await core.retention.deletions.removeSome());
  await moveClock(sql, '7 days 2 minutes')
  while (await core.retention.deletions.removeSome());
  t.match(await refused('restore', id), /^1 .*account: is deleted, and cannot be restored/)
  t.match(await refused('delete', id), /^1 .*account: is deleted already/)
  for (const verb of ['suspend', 'resume', 'settings']) t.match(await refused(verb, id), /^1 .*does not exist/, verb)
  t.match(await refused('rename', id, 'Other'), /^1 .*does not exist/)
  t.match((await postrider(env, 'account', 'deletions')).stdout, new RegExp(`^${id} +done `, 'm'))
})

t.test('the account that the service itself sends from is not deleted', async (t) => {
  const own = await makeService(t, { SERVICE_DOMAIN: 'service.example' })
  const { accountId } = await own.makeSender()
  await own.core.domains.add({ accountId, name: 'service.example', state: 'active' })
  t.match(await postrider(own.env, 'account', 'delete', String(accountId)), {
    code: 1,
    stderr: /^postrider: account: has service.example, .*SERVICE_DOMAIN/,
  })
})

t.test('the demo account can be deleted, and is not made again', async (t) => {
  const own = await makeService(t)
  const { stdout } = await postrider(own.env, 'setup')
  t.match(stdout, /Created a demo account/)
  await postrider(own.env, 'account', 'delete', '1', '--grace-days', '0')
  await answered(own.env, 'account', 'delete', '--confirm', '1')
  await moveClock(own.sql, '6 minutes')
  while (await own.core.retention.deletions.removeSome());
  t.match(await own.core.accounts.list(), [{ id: 1, state: 'deleted' }])
  const { stdout: again } = await postrider(own.env, 'setup')
  t.notMatch(again, /Created a demo account/)
  t.match(again, /No account yet/)
  t.equal((await own.core.accounts.list()).length, 1)
  t.equal((await own.core.accounts.create('demo')).id, 2)
})
