import type { Bounced, Outcome } from '@postrider/core'
import t, { type Test } from 'tap'
import { BOUNCED, DEFERRED, makeQueue } from '../../core/delivery/queue-of.ts'
import { moveClock } from '../../helpers/database.ts'
import { erase } from '../../helpers/erase.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const refusal = (stage: 'rcpt' | 'dot', code: number, enhanced: string, text: string): Outcome =>
  ({ ...(BOUNCED as Bounced), stage, reply: { code, enhanced, text } }) as Outcome
const SPAM = refusal('dot', 554, '5.7.1', 'message looks like spam')
const NO_DOMAIN = refusal('rcpt', 550, '5.1.2', 'unknown domain')

/** An account with mail that was refused in these ways, by recipient. */
async function makeRefused(t: Test, outcomes: Readonly<Record<string, Outcome>>) {
  const queue = await makeQueue(t)
  const { service, core, sender } = queue
  const base = await service.openApi()
  const call = (method: string, path: string, body?: unknown): Promise<CallAnswer> =>
    ask(base, { method, path: `/suppression/${path}`, key: sender.apiKey, body } as AskOptions)
  const refuse = async (to: string, outcome: Outcome): Promise<void> => {
    const workerId = await queue.register()
    await queue.accept([to])
    const claimed = await queue.claimAll(workerId)
    await core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome })))
  }
  for (const [to, outcome] of Object.entries(outcomes)) await refuse(to, outcome)
  const emails = async (path: string) =>
    ((await call('GET', path)).json as unknown as { email: string }[]).map((one) => one.email)
  return { ...queue, base, call, refuse, emails }
}

t.test(
  'an address whose message was refused as spam is a block with the reply, and gets the next message',
  async (t) => {
    proves(t, 'operation.listBlocks', 'operation.viewBlocks')
    const { call, emails, refuse, core, sender } = await makeRefused(t, {
      'lena@harbor.example': SPAM,
      'gone@harbor.example': BOUNCED,
      'olaf@nowhere.example': NO_DOMAIN,
      'mara@harbor.example': DEFERRED,
    })
    const block = { email: 'lena@harbor.example', reason: '554 5.7.1 message looks like spam', status: '5.7.1' }
    const listed = (await call('GET', 'blocks')).json as unknown as { created: number }[]
    t.match(listed, [block])
    t.equal(listed.length, 1)
    t.ok(Math.abs((listed[0]?.created ?? 0) - Date.now() / 1000) < 60)
    t.strictSame((await call('GET', 'blocks/Lena@Harbor.example')).json, listed)
    t.strictSame((await call('GET', 'blocks/gone@harbor.example')).json, [])
    t.strictSame(await emails('bounces'), ['gone@harbor.example'])
    t.strictSame(await core.suppressions.holding(sender.accountId, 'lena@harbor.example'), [])
    await refuse('lena@harbor.example', refusal('dot', 552, '5.2.2', 'mailbox full'))
    t.match(
      (await call('GET', 'blocks')).json,
      [{ email: 'lena@harbor.example', status: '5.2.2' }],
      'once, the last one',
    )
  },
)

t.test('mail that expired is a block', async (t) => {
  const { call, queue } = await makeRefused(t, {}).then((made) => ({ ...made, queue: made }))
  await queue.accept(['lena@harbor.example'])
  await moveClock(queue.service.sql, '30 days')
  const workerId = await queue.register()
  const claimed = await queue.claimAll(workerId)
  await queue.core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome: DEFERRED })))
  t.match((await call('GET', 'blocks')).json, [{ email: 'lena@harbor.example' }])
})

t.test('malformed addresses, and those of domains that do not exist or accept no mail, are invalid', async (t) => {
  proves(t, 'operation.listInvalidEmails', 'operation.viewInvalidEmails')
  const { call, emails, accept } = await makeRefused(t, {
    'olaf@nowhere.example': NO_DOMAIN,
    'nina@null.example': refusal('rcpt', 556, '5.1.10', 'recipient address has null MX'),
    'gone@harbor.example': BOUNCED,
    'lena@harbor.example': SPAM,
  })
  await accept(['No Address'])
  t.strictSame((await call('GET', 'invalid_emails')).json, [
    ...((await call('GET', 'invalid_emails/nina@null.example')).json as unknown as unknown[]),
    ...((await call('GET', 'invalid_emails/no%20address')).json as unknown as unknown[]),
    ...((await call('GET', 'invalid_emails/olaf@nowhere.example')).json as unknown as unknown[]),
  ])
  t.match((await call('GET', 'invalid_emails')).json, [
    { email: 'nina@null.example', reason: '556 5.1.10 recipient address has null MX' },
    { email: 'no address', reason: 'Invalid' },
    { email: 'olaf@nowhere.example', reason: '550 5.1.2 unknown domain' },
  ])
  t.strictSame(await emails('bounces'), ['gone@harbor.example'])
})

t.test('pages, times and prefixes are those of the other lists', async (t) => {
  const { call, emails, refuse, service } = await makeRefused(t, {})
  for (const name of ['a', 'b', 'c']) await refuse(`${name}@harbor.example`, SPAM)
  await moveClock(service.sql, '1 day')
  await refuse('d@harbor.example', SPAM)
  t.strictSame(await emails('blocks?limit=2&offset=1'), ['b@harbor.example', 'c@harbor.example'])
  t.match((await call('GET', 'blocks?limit=2&offset=0')).headers.link, /offset=2>; rel="last"; title="2"/)
  const noon = Math.floor(Date.now() / 1000) + 43_200
  t.strictSame(await emails(`blocks?start_time=${noon}`), ['d@harbor.example'])
  t.strictSame(await emails(`blocks?end_time=${noon}&limit=2`), ['a@harbor.example', 'b@harbor.example'])
  t.strictSame(await emails('blocks?email=C@'), ['c@harbor.example'])
})

t.test('removed addresses are listed again when they fail again', async (t) => {
  proves(t, 'operation.deleteBlocks', 'operation.deleteBlocksOf')
  proves(t, 'operation.deleteInvalidEmails', 'operation.deleteInvalidEmailsOf')
  const { call, emails, refuse, service } = await makeRefused(t, {
    'a@harbor.example': SPAM,
    'b@harbor.example': SPAM,
    'c@harbor.example': SPAM,
    'd@harbor.example': SPAM,
    'olaf@nowhere.example': NO_DOMAIN,
  })
  t.equal((await call('DELETE', 'blocks/A@harbor.example')).status, 204)
  refusedV3(t, await call('DELETE', 'blocks/a@harbor.example'), [404, 'resource not found'])
  refusedV3(t, await call('DELETE', 'blocks/olaf@nowhere.example'), [404, 'resource not found'])
  t.equal((await call('DELETE', 'blocks', { emails: ['B@harbor.example', 'x@harbor.example'] })).status, 204)
  t.strictSame(await emails('blocks'), ['c@harbor.example', 'd@harbor.example'])
  t.equal((await call('DELETE', 'blocks', { delete_all: true })).status, 204)
  t.strictSame(await emails('blocks'), [])
  t.strictSame(await emails('invalid_emails'), ['olaf@nowhere.example'], 'another list')
  t.equal((await call('DELETE', 'invalid_emails/olaf@nowhere.example')).status, 204)
  t.strictSame(await emails('invalid_emails'), [])
  await moveClock(service.sql, '1 hour')
  await refuse('a@harbor.example', SPAM)
  t.strictSame(await emails('blocks'), ['a@harbor.example'])
})

t.test('other accounts have lists of their own', async (t) => {
  const { service, base } = await makeRefused(t, { 'lena@harbor.example': SPAM })
  const other = await service.makeSender()
  for (const path of ['/suppression/blocks', '/suppression/blocks/lena@harbor.example'])
    t.strictSame((await ask(base, { method: 'GET', path, key: other.apiKey })).json, [])
})

t.test('an erased recipient is on no list, nor is the removal of it stored', async (t) => {
  const { call, core, sender, service, emails, accept } = await makeRefused(t, {
    'lena@harbor.example': SPAM,
    'olaf@harbor.example': SPAM,
  })
  await accept(['lena@harbor.example', 'Lena at harbor <lena@harbor.example'])
  t.equal((await emails('invalid_emails')).length, 1)
  t.equal((await call('DELETE', 'blocks', { emails: ['olaf@harbor.example'] })).status, 204)
  await erase(core, sender.accountId, ['lena@harbor.example', 'olaf@harbor.example'])
  t.strictSame(await emails('blocks'), [])
  t.strictSame(await emails('invalid_emails'), [])
  t.strictSame([...(await service.sql`select address from cleared_failures`)], [])
})

t.test('removals are deleted once no event can be of before them', async (t) => {
  const { call, core, service } = await makeRefused(t, { 'lena@harbor.example': SPAM })
  t.equal((await call('DELETE', 'blocks', { delete_all: true })).status, 204)
  await moveClock(service.sql, '103 days')
  await core.cleanUp()
  t.equal((await service.sql`select 1 from cleared_failures`).length, 1)
  await moveClock(service.sql, '105 days')
  await core.cleanUp()
  t.equal((await service.sql`select 1 from cleared_failures`).length, 0)
})
