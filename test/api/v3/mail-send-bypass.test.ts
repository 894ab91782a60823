import { EVERY_ACCOUNT } from '@postrider/core'
import t from 'tap'
import { until } from '../../helpers/until.ts'
import { proves } from './conformance/proves.ts'
import { type Fields, toLena } from './mail.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

const { service, sender, send, story } = await makeMailArrivals(t)
const { core, sql } = service
const { accountId } = sender
const group = await core.groups.create(accountId, { name: 'News', description: 'd', isDefault: false })

const LISTED = ['hardbounce', 'abuse', 'unsubscribe', 'manual'] as const
for (const reason of LISTED) {
  await core.suppressions.addAll({ accountId, emails: [`${reason}@gone.example`], reason })
}
await core.suppressions.addAll({ accountId, emails: ['group@gone.example'], group: group.id, reason: 'unsubscribe' })
await core.suppressions.addAll({ accountId, domains: ['domain.example'] })
await core.suppressions.addAll({ accountId: EVERY_ACCOUNT, emails: ['global@gone.example'] })
const EVERYBODY = [...LISTED, 'group', 'global'].map((name) => `${name}@gone.example`).concat('x@domain.example')

const bypassing = (...names: readonly string[]): Fields => ({
  mail_settings: Object.fromEntries(names.map((name) => [`bypass_${name}_management`, { enable: true }])),
})

/** Who got the mail, of everybody who is on a list. */
async function reached(extra: Fields): Promise<string[]> {
  const answer = await send({
    asm: { group_id: group.id },
    personalizations: EVERYBODY.map((email) => ({ to: [{ email }] })),
    ...extra,
  })
  const done = await until('all outcomes', async () => {
    const { deliveries } = await story(answer)
    return deliveries.every(({ state }) => state === 'delivered' || state === 'dropped') && deliveries
  })
  return done.filter(({ state }) => state === 'delivered').map(({ recipient }) => recipient.split('@')[0] ?? '')
}

t.test('no one on a list gets mail that bypasses nothing', async (t) => {
  t.strictSame(await reached({}), [])
})

t.test('bypass_list_management skips all lists of the account, but not those of the operator', async (t) => {
  proves(t, 'bypass_list_management')
  t.strictSame(await reached(bypassing('list')), ['hardbounce', 'abuse', 'unsubscribe', 'manual', 'group', 'x'])
  t.strictSame(await reached({ mail_settings: { bypass_list_management: { enable: false } } }), [])
})

t.test('each of the other bypass settings skips one list; groups still apply', async (t) => {
  proves(t, 'bypass-others')
  t.strictSame(await reached(bypassing('bounce')), ['hardbounce'])
  t.strictSame(await reached(bypassing('spam')), ['abuse'])
  t.strictSame(await reached(bypassing('unsubscribe')), ['unsubscribe'])
  t.strictSame(await reached(bypassing('spam', 'bounce', 'unsubscribe')), ['hardbounce', 'abuse', 'unsubscribe'])
})

t.test('what is suppressed after accept is bypassed at the claim too, and another reason holds it there', async (t) => {
  const at = Math.floor(Date.now() / 1000) + 3
  const later = (email: string) => send({ ...bypassing('unsubscribe'), send_at: at, ...toLena({ to: [{ email }] }) })
  const [left, complained] = [await later('left@late.example'), await later('complained@late.example')]
  await core.suppressions.addAll({ accountId, emails: ['left@late.example'], reason: 'unsubscribe' })
  await core.suppressions.addAll({ accountId, emails: ['complained@late.example'], reason: 'abuse' })
  const stateOf = async (answer: Awaited<ReturnType<typeof send>>) => (await story(answer)).deliveries[0]?.state
  await until('the first', async () => (await stateOf(left)) === 'delivered')
  await until('the second', async () => (await stateOf(complained)) === 'dropped')
  t.match((await story(left)).settings, { bypass: ['unsubscribe'] })
})

t.test('before the final dot the same lists are asked, with what the message bypasses', async (t) => {
  const far = Math.floor(Date.now() / 1000) + 3600
  const hold = async (extra: Fields, email: string) => {
    const answer = await send({ ...extra, send_at: far, ...toLena({ to: [{ email }] }) })
    const { id } = await story(answer)
    await sql`update delivery_queue set worker_id = 4711, attempt = 1 where message_id = ${uuidOf(id)}::uuid`
    await core.suppressions.addAll({ accountId, emails: [email], reason: 'unsubscribe' })
    return { messageId: uuidOf(id), recipientNo: 0, attempt: 1, workerId: 4711, host: 'mx.late.example', domainId: 1 }
  }
  const dots = [await hold(bypassing('list'), 'a@dot.example'), await hold(bypassing('spam'), 'b@dot.example')]
  t.strictSame(await core.deliveries.recordEndOfData(dots), [true, { reason: 'unsubscribe' }])
  await sql`delete from delivery_queue where worker_id = 4711`
})

t.test('one who is listed for two reasons gets only mail that bypasses both', async (t) => {
  const [email, other] = ['both@gone.example', 'listed@gone.example']
  for (const reason of ['abuse', 'unsubscribe'] as const)
    await core.suppressions.addAll({ accountId, emails: [email], reason })
  for (const reason of ['manual', 'unsubscribe'] as const)
    await core.suppressions.addAll({ accountId, emails: [other], reason })
  t.equal(await outcome(bypassing('spam'), email), 'dropped')
  t.equal(await outcome(bypassing('unsubscribe'), email), 'dropped')
  t.equal(await outcome(bypassing('spam', 'unsubscribe'), email), 'delivered')
  t.equal(await outcome(bypassing('unsubscribe'), other), 'dropped', 'the sender listed them before they unsubscribed')
  t.equal(await outcome(bypassing('list'), other), 'delivered')
})

t.test('an opt-out kept as a hash is bypassed as the list it is of', async (t) => {
  const email = 'hashed@gone.example'
  await core.suppressions.addAll({ accountId, emails: [email], reason: 'unsubscribe' })
  await forgetting(email)
  t.equal(await outcome({}, email), 'dropped')
  t.equal(await outcome(bypassing('spam'), email), 'dropped')
  t.equal(await outcome(bypassing('unsubscribe'), email), 'delivered')
  t.equal(await outcome(bypassing('list'), email), 'delivered')
})

t.test(
  'an erased recipient who complained and unsubscribed stays unsubscribed when the spam report is removed',
  async (t) => {
    const email = 'hashed-both@gone.example'
    for (const reason of ['abuse', 'unsubscribe'] as const)
      await core.suppressions.addAll({ accountId, emails: [email], reason })
    await forgetting(email)
    t.equal(await outcome(bypassing('spam'), email), 'dropped')
    t.equal(await outcome(bypassing('spam', 'unsubscribe'), email), 'delivered')
    const removed = { accountId, emails: [email], reasons: ['abuse'] as const }
    t.equal(await core.suppressions.removeAll(removed), 1)
    t.equal(await outcome({}, email), 'dropped')
    t.equal(await outcome(bypassing('unsubscribe'), email), 'delivered')
  },
)

t.test('one who is erased twice keeps the stronger objection', async (t) => {
  const email = 'hashed-twice@gone.example'
  for (const reason of ['hardbounce', 'unsubscribe'] as const) {
    await core.suppressions.addAll({ accountId, emails: [email], reason })
    await forgetting(email)
  }
  t.equal(await outcome(bypassing('bounce'), email), 'dropped')
  t.equal(await outcome(bypassing('unsubscribe'), email), 'delivered')
})

/** Erases a recipient, and waits until the address is gone from the list. */
async function forgetting(email: string): Promise<void> {
  await core.privacy.forget(accountId, [email])
  const listed = () => sql`select 1 from suppressions where value = ${email}`
  await until('the hash', async () => (await listed()).length === 0, 30_000)
}

/** What becomes of mail to one recipient. */
async function outcome(extra: Fields, email: string): Promise<string> {
  const answer = await send({ ...extra, ...toLena({ to: [{ email }] }) })
  return until('the outcome', async () => {
    const state = (await story(answer)).deliveries[0]?.state
    return state === 'delivered' || state === 'dropped' ? state : undefined
  })
}

function uuidOf(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
