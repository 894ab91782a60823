import t from 'tap'
import { startOutbox } from '../delivery/outbox.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { missingForPages, openSection, planOf } from './page.ts'

const skip = missingForPages() ?? false
const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service } = outbox
const { env, sql } = service
const base = `http://127.0.0.1:${service.config.apiPort}`

const call = (sender: Sender, extra = {}) => sendV2(base, sender.apiKey, v2Body(sender, extra))
const arrived = (sender: Sender) =>
  sink.messages.filter(({ data }) => String(data).includes(`@${sender.domain}`)).length
const waitingOf = async ({ accountId }: Sender) =>
  (
    await sql<{ waiting: string | null }[]>`
      select waiting_for as waiting from delivery_queue where account_id = ${accountId}`
  ).map(({ waiting }) => waiting)

t.test('a leaked key is refused, and what was sent with it is held', { skip }, async (t) => {
  const page = openSection('A key has leaked', env)
  const sender = await service.makeSender()
  const ACCOUNT = String(sender.accountId)
  // Who found the key sends at once, and has more prepared for tomorrow.
  const tomorrow = new Date(Date.now() + 80_000_000).toISOString()
  t.equal((await call(sender)).status, 200)
  t.equal((await call(sender, { schedule: tomorrow })).status, 200)
  await until('the first', () => arrived(sender) === 1)

  const asked = { 'HOST:8080': `127.0.0.1:${service.config.apiPort}`, LEAKED: sender.apiKey }
  t.match((await page.run('curl', asked)).stdout, `"account":{"id":${ACCOUNT},`)
  const listed = await page.run('postrider key list', { ACCOUNT })
  const [row = ''] = listed.stdout.split('\n').filter((line) => line.includes(sender.apiKey.slice(0, 8)))
  const KEY = /^\d+/.exec(row)?.[0] as string
  t.ok(KEY, listed.stdout)
  await page.run('postrider key revoke', { KEY })
  await until('the key to be refused', async () => (await call(sender)).status === 401, 5000)
  const TIME = new Date(Date.now() - 3_600_000).toISOString()
  t.match(
    (await page.run('postrider message list', { ACCOUNT, TIME })).stdout,
    /lena@harbor\.example[\s\S]*lena@harbor/,
  )
  const PLAN = planOf(await page.run('postrider queue hold --account', { ACCOUNT }))
  await page.run('postrider queue hold --confirm', { PLAN })
  await until('it to be held', async () => (await waitingOf(sender)).join() === 'hold')

  const other = await service.makeSender()
  const [key] = await service.core.auth.listKeys(other.accountId)
  const rotated = await page.run('postrider key rotate', { KEY: String(key?.id) })
  const apiKey = /pr_[0-9A-Za-z]{33}/.exec(rotated.stdout)?.[0] as string
  t.equal((await call({ ...other, apiKey })).status, 200, 'the new key works')
  t.equal((await call(other)).status, 200, 'so does the old one')
  page.done(t)
})

t.test('the mail of a spammer is stopped, its calls refused, and what waits is dropped', { skip }, async (t) => {
  const page = openSection('An account sends spam', env)
  const sender = await service.makeSender()
  const ACCOUNT = String(sender.accountId)
  t.equal((await call(sender)).status, 200)
  await until('spam', () => arrived(sender) === 1)
  t.match((await page.run('postrider message list', { ACCOUNT })).stdout, 'lena@harbor.example')

  await page.run('postrider account hold', { ACCOUNT, REASON: 'a bought list' })
  await until('the hold to be known', async () => {
    const before = arrived(sender)
    await call(sender)
    return (await waitingOf(sender)).length > 0 && arrived(sender) === before
  })
  await page.run('postrider account suspend', { ACCOUNT })
  await until('calls to be refused', async () => (await call(sender)).status === 403, 6000)
  const before = arrived(sender)

  await page.run('postrider account release', { ACCOUNT })
  await until('what waited to be dropped', async () => (await waitingOf(sender)).length === 0)
  t.equal(arrived(sender), before, 'none of it was delivered')
  await page.run('postrider account resume', { ACCOUNT })
  await until('calls to be accepted', async () => (await call(sender)).status === 200, 6000)
  await until('ordinary mail', () => arrived(sender) === before + 1)
  page.done(t)
})
