import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { answered, postrider } from '../cli/postrider.ts'
import { isInTime } from '../helpers/pace.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { untilParkedAt } from './parked.ts'

const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(FILE, 'providers:\n  - { name: lighthouse, mx: [.lighthouse.example], connections: 4 }\n')
const internet = await startInternet(t, { PROVIDERS_FILE: FILE })
const { service, sender } = internet
const { env } = service
const host = await internet.host(t, {}, 'lighthouse.example')
const domain = internet.domain([host])
const waits = async (count: number) =>
  until('the mail to wait', async () => {
    const [row] = await service.sql<{ count: number }[]>`
      select count(*)::int as count from delivery_queue where place = 'lighthouse' and waiting_for = 'pause' and worker_id is null`
    return row?.count === count
  })
/** Sends messages until the worker knows of the pause. Returns the id of the one that waits. */
const untilPaused = (): Promise<string> =>
  untilParkedAt(service, 'lighthouse', (no) => internet.send(`known${no}@${domain}`))

const lastEntry = async (accountId: number) =>
  (await service.core.audit.list(accountId, { after: 0, limit: 100 })).slice(-1)

t.test(
  'a worker offers nothing to a destination that the operator has paused, and goes on when it is resumed',
  async (t) => {
    await internet.inState(await internet.send(`first@${domain}`), 'delivered')
    const paused = await postrider(env, 'queue', 'pause', 'lighthouse', '--reason', 'their incident', '--for', '2h')
    t.match(paused.stdout, /^paused lighthouse until 20/)
    t.equal(paused.code, 0)
    const first = await untilPaused()
    const offered = host.messages.length
    const ids = [first, ...(await Promise.all(['a', 'b'].map((name) => internet.send(`${name}@${domain}`))))]
    await waits(3)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    t.equal(host.messages.length, offered, 'nothing was offered')
    for (const id of ids) t.match(await internet.story(id), { deliveries: [{ state: 'queued', attempt: 0 }] })
    const [override] = await service.core.deliveries.limits.overrides()
    t.match(override, { place: 'lighthouse', rule: 'operator', setting: 'pause', reason: 'their incident' })
    t.ok(Math.abs((override?.left ?? 0) - 7_200_000) < 60_000)
    t.match(await lastEntry(0), [
      { action: 'queue.pause', object: 'place lighthouse', after: { reason: 'their incident' } },
    ])

    const shorter = await answered<{ until: string }>(
      env,
      'queue',
      'pause',
      'lighthouse',
      '--reason',
      'x',
      '--for',
      '1h',
    )
    t.ok(Date.parse(shorter.until) < (override?.until.getTime() ?? 0), 'a second pause replaces the first')

    t.match(await answered(env, 'queue', 'resume', 'lighthouse'), { ended: ['operator'] })
    const resumedAt = performance.now()
    await until('the rest', () => host.messages.length === offered + 3)
    t.ok(isInTime(resumedAt, 4000))
    t.match(await lastEntry(0), [{ action: 'queue.resume', before: { rules: ['operator'] } }])
    const again = await postrider(env, 'queue', 'resume', 'lighthouse')
    t.equal(again.code, 1)
    t.match(again.stderr, 'lighthouse is not paused by the operator; --rules also ends')
  },
)

t.test('a pause of one account leaves the mail of others', async (t) => {
  const other = await service.makeSender()
  const account = ['--account', String(sender.accountId)]
  await answered(env, 'queue', 'pause', 'lighthouse', '--reason', 'complaints', ...account)
  t.match(await lastEntry(sender.accountId), [{ action: 'queue.pause' }])
  await untilPaused()
  await waits(1)
  const before = host.messages.length
  const { acceptMessage, envelopeTo } = await import('../core/submission.ts')
  const { messageId } = await acceptMessage(service, other, { envelopes: [envelopeTo(`free@${domain}`)] })
  await internet.inState(messageId, 'delivered')
  t.equal(host.messages.length, before + 1)
  t.equal((await postrider(env, 'queue', 'resume', 'lighthouse')).code, 1, 'that of the account is another one')
  await answered(env, 'queue', 'resume', 'lighthouse', ...account)
  await until('the rest', () => host.messages.length === before + 2)
})

t.test('--rules also ends what back-off rules have set', async (t) => {
  const { limits } = service.core.deliveries
  const base = { place: 'lighthouse', accountId: null, value: null, seconds: null, lasts: 7200 }
  await limits.set({ ...base, setting: 'pause', rule: 'lighthouse-slow', reason: '421 slow' })
  t.equal((await postrider(env, 'queue', 'resume', 'lighthouse')).code, 1)
  t.match(await answered(env, 'queue', 'resume', 'lighthouse', '--rules'), { ended: ['lighthouse-slow'] })
  t.equal((await limits.overrides()).length, 0)
})

t.test('a pause needs a reason, ends after 30 days at most, and says if the destination is unknown', async (t) => {
  t.match(await postrider(env, 'queue', 'pause', 'lighthouse'), { code: 2, stderr: /missing option --reason/ })
  const pause = (...args: string[]) => postrider(env, 'queue', 'pause', 'pier', '--reason', 'x', ...args)
  t.match(await pause('--for', '31d'), { code: 1, stderr: /for.*30 days/ })
  t.match(await pause('--for', 'soon'), { code: 1, stderr: /--for: must be a number followed by/ })
  t.match(await pause('--account', '999999'), { code: 1, stderr: /account 999999 not found/ })
  const { stdout, code } = await pause()
  t.equal(code, 0)
  t.match(stdout, /paused pier until .*\nno provider, and no site with waiting mail, is called pier/)
  const [override] = await service.core.deliveries.limits.overrides()
  t.ok(Math.abs((override?.left ?? 0) - 86_400_000) < 60_000, 'a day by default')
})
