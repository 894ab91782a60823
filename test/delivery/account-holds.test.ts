import { type ClaimedDelivery, type Core, createLog, type LoadedMessage, type Rate } from '@postrider/core'
import t from 'tap'
import { AccountHolds } from '../../packages/delivery/src/destinations/account-holds.ts'
import { answered, postrider } from '../cli/postrider.ts'
import { tablesWith } from '../helpers/dump.ts'
import { isInTime } from '../helpers/pace.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutbox } from './outbox.ts'
import { untilParkedAt } from './parked.ts'

const sink = await startSink(t, {
  rcpt: ({ command }) => (command.includes('<gone') ? '550 5.1.1 no such user' : undefined),
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, REPUTATION_RULES: 'standard' })
const { service } = outbox
const { core, sql, env } = service

/** An account, and what became of its mail. */
async function makeAccount() {
  const sender = await service.makeSender()
  return {
    sender,
    id: String(sender.accountId),
    send: (recipient: string, extra = {}) => sendAs(sender, recipient, extra),
    async waiting() {
      const rows = await sql<{ place: string; waiting: string; count: number }[]>`
        select place, waiting_for as waiting, count(*)::int as count from delivery_queue where account_id = ${sender.accountId} group by 1, 2`
      return rows.map(({ place, waiting, count }) => `${count} ${place} ${waiting}`)
    },
    got: () =>
      sink.messages
        .filter(({ from }) => from !== undefined)
        .filter(({ data }) => String(data).includes(`@${sender.domain}`)).length,
  }
}

async function sendAs(sender: Sender, recipient: string, extra: object): Promise<string> {
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const answer = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [{ recipient }], ...extra }))
  const id = answer.body.data?.message_id
  if (!id) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`)
  return id
}
const HELD = 'account:held account'
/** A single message that is to be sent later. */
const SCHEDULED = '1 null null'

/** Sends messages until the worker knows that the account is held. Each is another one, so that they are no loop. */
const untilHeld = (send: (extra: object) => Promise<string>): Promise<string> =>
  untilParkedAt(service, 'account:held', (no) => send({ subject: `Until held ${no}` }))

t.test('held mail is accepted and waits, and is sent when the account is released', async (t) => {
  const [held, other] = [await makeAccount(), await makeAccount()]
  const text = (await postrider(env, 'account', 'hold', held.id, '--reason', 'we asked about their list')).stdout
  t.match(text, `account ${held.id}: all mail is held`)
  const first = await untilHeld((extra) => held.send('a@harbor.example', extra))
  const got = held.got()
  const ids = [first, ...(await Promise.all(['b', 'c'].map((name) => held.send(`${name}@harbor.example`))))]
  await until('it to wait', async () => (await held.waiting())[0] === `3 ${HELD}`)
  await outbox.inState(await other.send('lena@harbor.example'), 'delivered')
  t.equal(held.got(), got)
  const why = await core.messages.why({ messageId: first })
  t.match(why?.deliveries[0], {
    waitingFor: 'account-held',
    text: /^The operator holds mail of this account: we asked about their list\. It waits/,
  })
  const sender = await core.messages.why({ messageId: first, accountId: held.sender.accountId })
  t.notMatch(sender?.deliveries[0]?.text, 'we asked', 'the reason is for the operator')
  t.match(await answered(env, 'account', 'standing', held.id), {
    holds: [{ rule: 'operator', reason: 'we asked about their list' }],
  })
  t.match((await postrider(env, 'account', 'standing')).stdout, new RegExp(`^${held.id} +operator +held`, 'm'))
  const queue = (await postrider(env, 'queue')).stdout
  t.match(queue, /^\(account held or slowed\) +0 +0 +3 account /m)
  t.notMatch(queue, /account:held|0\/10/, 'it is no provider, and has no connections')
  t.match((await postrider(env, 'message', 'show', first)).stdout, /^0 +to +a@harbor\.example +\w+ +0 +held$/m)
  t.match((await postrider(env, 'message', 'list', '--recipient', 'a@harbor.example')).stdout, / held\s*$/m)
  t.match(await answered(env, 'message', 'show', first), { deliveries: [{ nextAt: null, isHeld: true }] })

  t.match((await postrider(env, 'account', 'release', held.id)).stdout, `released account ${held.id} (operator)`)
  for (const id of ids) await outbox.inState(id, 'delivered')
  t.match((await postrider(env, 'account', 'release', held.id)).stdout, 'was not held')
})

t.test('mail of one class is held, and that of others is sent', async (t) => {
  const account = await makeAccount()
  await answered(env, 'account', 'hold', account.id, '--reason', 'bulk first', '--class', 'bulk')
  await untilHeld((extra) => account.send('bulk@harbor.example', { settings: { class: 'bulk' }, ...extra }))
  const got = account.got()
  await outbox.inState(await account.send('normal@harbor.example'), 'delivered')
  t.strictSame(await account.waiting(), [`1 ${HELD}`])
  t.equal(account.got(), got + 1)
  await core.reputation.release(account.sender.accountId)
  t.ok(await until('the other', () => account.got() === got + 2))
})

t.test(
  'an account whose mail goes to unknown recipients is held within seconds, and purged or released exactly',
  async (t) => {
    const account = await makeAccount()
    await Promise.all(Array.from({ length: 60 }, (_, at) => account.send(`gone${at}@harbor.example`)))
    const since = performance.now()
    const [hold] = await until(
      'the hold',
      async () => {
        const { holds } = await core.reputation.show(account.sender.accountId)
        return holds.length > 0 ? holds : undefined
      },
      30_000,
    )
    t.match(hold, { rule: 'unknown-recipients', level: 'held' })
    t.comment(`held ${Math.round(performance.now() - since)} ms after the last was accepted`)
    const scheduled = new Date(Date.now() + 3_600_000).toISOString()
    await account.send('later@harbor.example', { schedule: scheduled })
    const first = await untilHeld((extra) => account.send('lena@harbor.example', extra))
    const got = account.got()
    const others = Array.from({ length: 24 }, (_, at) => account.send(`lena${at}@harbor.example`))
    const ids = [first, ...(await Promise.all(others))]
    const waiting = await until('it to wait', async () => {
      const groups = (await account.waiting()).filter((one) => one !== SCHEDULED)
      return groups.length === 1 && groups[0]?.endsWith(HELD) && Number.parseInt(groups[0], 10)
    })
    t.ok(waiting >= 25 && waiting <= 35, `${waiting}: up to ten of the sixty were not tried before the hold`)
    const purged = await answered<{ dropped: number }>(env, 'account', 'release', account.id, '--purge', '--yes')
    t.match(purged, { dropped: waiting, rules: ['unknown-recipients'] })
    for (const id of ids)
      t.match(await outbox.story(id), {
        deliveries: [{ state: 'dropped' }],
        events: [{}, { type: 'dropped', detail: { reason: 'operator' } }],
      })
    t.equal(account.got(), got)
    await outbox.inState(await account.send('lena@harbor.example'), 'delivered')
    t.equal((await account.waiting()).length, 1, 'what is scheduled is kept')
  },
)

t.test('slowed mail is sent at its rate, and the rest waits', async (t) => {
  const account = await makeAccount()
  const { accountId } = account.sender
  await sql`
    insert into account_holds (account_id, rule, level, classes, rate, figures, since, check_at)
    values (${accountId}, 'bounces', 'slowed', '{1,2}', 600, '{}', service_now(), 'infinity')`
  // A worker that knows of a hold set after the rate knows the rate.
  const later = await makeAccount()
  await core.reputation.hold({ accountId: later.sender.accountId, reason: 'a test' })
  await untilHeld((extra) => later.send('lena@harbor.example', extra))
  await Promise.all(Array.from({ length: 30 }, (_, at) => account.send(`lena${at}@harbor.example`)))
  await until('the first', () => account.got() >= 10)
  await until('the rest to wait', async () => (await account.waiting()).every((one) => one.endsWith(HELD)))
  t.ok(account.got() <= 20, `ten a minute, perhaps of two minutes: ${account.got()}`)
  t.equal((await account.waiting()).length, 1)
  const [left] = await sql<
    { id: string }[]
  >`select message_id::text as id from delivery_queue where account_id = ${accountId} limit 1`
  t.match(await core.messages.why({ messageId: left?.id ?? '' }), {
    deliveries: [{ waitingFor: 'account-held', text: /At most 600 messages per hour/ }],
  })
  await outbox.inState(await account.send('urgent@harbor.example', { settings: { class: 'urgent' } }), 'delivered')
  for (const one of [accountId, later.sender.accountId]) await core.reputation.release(one)
  await until('all', () => account.got() === 31)
})

t.test('an account is held while its mail is sent, and mail of others goes on', async (t) => {
  const [held, other] = [await makeAccount(), await makeAccount()]
  const recipients = Array.from({ length: 100 }, (_, at) => ({ recipient: `many${at}@harbor.example` }))
  for (let no = 0; no < 8; no++) await held.send('', { personalizations: recipients })
  await until('the first', () => held.got() > 20)
  await core.reputation.hold({ accountId: held.sender.accountId, reason: 'a test' })
  await until('the rest to wait', async () => (await held.waiting()).every((one) => one.endsWith(HELD)))
  const [got, since] = [held.got(), performance.now()]
  for (let no = 0; no < 5; no++) await outbox.inState(await other.send(`lena${no}@harbor.example`), 'delivered')
  t.ok(isInTime(since, 10_000))
  t.equal(held.got(), got)
  await core.reputation.release(held.sender.accountId)
  await until('all of it', () => held.got() === 800)
})

t.test('of two rates the lower one applies, whatever windows they are counted in', async (t) => {
  for (const rates of [
    [3600, 90],
    [90, 3600],
  ]) {
    const { accountId } = await service.makeSender()
    for (const [at, rate] of rates.entries())
      await sql`
        insert into account_holds (account_id, rule, level, classes, rate, figures, since, check_at)
        values (${accountId}, ${`rule ${at}`}, 'slowed', '{1,2}', ${rate}, '{}', service_now(), 'infinity')`
    const taken: Rate[] = []
    const take: Core['rateLimits']['take'] = async (rates) => {
      taken.push(...rates)
      return core.rateLimits.take(rates)
    }
    const holds = new AccountHolds({
      core: { ...core, rateLimits: { ...core.rateLimits, take } },
      log: createLog('test', 'silent'),
    })
    await holds.read()
    const delivery = { accountId, class: 1, recipient: 'lena@harbor.example' } as ClaimedDelivery
    await holds.destinationOf(delivery, { settings: {} } as LoadedMessage)
    await holds.close()
    t.match(taken, [{ limit: 15, seconds: 600 }], '3600 per hour would be 10 in 10 seconds')
    await core.reputation.release(accountId)
  }
})

t.test('a recipient who gets one message again and again waits for an hour, and no other does', async (t) => {
  const account = await makeAccount()
  const { accountId } = account.sender
  const loop = async (count: number, extra = {}) => {
    for (let no = 0; no < count; no++) await account.send('Loop@harbor.example', { subject: 'Alarm', ...extra })
  }
  for (let no = 0; no < 25; no++) {
    await account.send('loop@harbor.example', { subject: 'New berth', content: `<p>Berth ${no}</p>` })
  }
  await loop(20)
  await until('them', () => account.got() === 45)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  t.equal(
    (await core.reputation.show(accountId)).holds.length,
    0,
    'other content, and twenty equal messages, are no loop',
  )
  await loop(1)
  await until('the hold', async () => (await core.reputation.show(accountId)).holds.length === 1)
  const id = await untilParkedAt(service, 'account:recipient', () =>
    account.send('loop@harbor.example', { subject: 'Alarm' }),
  )
  const got = account.got()
  await outbox.inState(await account.send('lena@harbor.example', { subject: 'Alarm' }), 'delivered')
  await until('it to wait', async () => (await account.waiting()).includes('1 account:recipient account'))
  t.equal(account.got(), got + 1)
  t.match(await core.messages.why({ messageId: id }), {
    deliveries: [{ waitingFor: 'account-held', text: /more than twenty times within ten minutes/ }],
  })
  const events = await sql`select detail from events where account_id = ${accountId} and type = 'account'`
  t.match([...events], [{ detail: { rule: 'repeated-recipient', after: 'held', figures: { minutes: 10 } } }])
  t.strictSame(
    (await tablesWith(sql, 'loop@harbor.example')).filter((name) => name.includes('recipient_')),
    [],
  )
  t.match((await postrider(env, 'account', 'standing', account.id)).stdout, /^repeated-recipient +held +recipients 1 /m)
  t.match(await answered(env, 'account', 'release', account.id, '--purge', '--yes'), {
    dropped: 1,
    rules: ['repeated-recipient'],
  })
  await outbox.inState(id, 'dropped')
  await loop(25)
  await until('what is sent after the release', () => account.got() === got + 26)
})

t.test('held mail expires at the end of its lifetime', async (t) => {
  const account = await makeAccount()
  await core.reputation.hold({ accountId: account.sender.accountId, reason: 'a test' })
  const id = await untilHeld((extra) => account.send('lena@harbor.example', { settings: { deadline: 60 }, ...extra }))
  await outbox.advance(5)
  await outbox.inState(id, 'expired')
  t.match((await outbox.story(id)).events.at(-1), {
    type: 'expired',
    detail: { reply: /mail of the account was held or slowed until/ },
  })
})

t.test('wrong calls say what is wrong', async (t) => {
  const wrong = async (...args: string[]) => (await postrider(env, 'account', ...args)).stderr
  t.match(await wrong('hold', '1'), '--reason')
  t.match(
    await wrong('hold', '1', '--reason', 'x', '--class', 'fast'),
    '--class must be urgent, normal, bulk (got "fast")',
  )
  t.match(await wrong('hold', '999999', '--reason', 'x'), 'account 999999 not found')
  t.match((await postrider(env, 'account', 'rules', '1')).stdout, /^account 1 has the rules \w+ \(default\)$/m, 'shown')
  t.match(await wrong('rules', '1', 'lax'), 'must be none, standard, strict or default')
  t.match(await wrong('release', '999999', '--purge', '--yes'), 'account 999999 not found')
})
