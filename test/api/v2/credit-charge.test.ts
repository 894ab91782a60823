import { buildApp } from '@postrider/api'
import { createCore, createLog, openDatabase } from '@postrider/core'
import t from 'tap'
import { sendV2, type V2Answer, v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { call, errorText, refused } from '../call.ts'

const service = await makeService(t)
const { sql, core } = service
const base = await service.openApi()

const ROUNDS = 50
const CALLS = 200
const EMPTY = [402, 162, 'Not enough credits for this number of recipients. Add credits and send again']

/** One more API on the same database, with a core and a pool of its own, as another host would have. */
async function openAnother(): Promise<string> {
  const pool = openDatabase({ url: String(service.env.DATABASE_URL), name: 'test', connections: 3 })
  const log = createLog('test', 'silent')
  const another = createCore({ sql: pool, config: service.config, log })
  await another.readiness.check()
  const app = await buildApp({ core: another, config: service.config, log })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    await app.close()
    await another.close()
  })
  return url
}

const balanceOf = async ({ accountId }: Sender): Promise<number | null> =>
  (await core.credits.show(accountId)).available

const to = (...recipients: readonly string[]) => ({ personalizations: recipients.map((recipient) => ({ recipient })) })

async function stored({ accountId }: Sender) {
  const [row] = await sql<{ messages: number; queued: number; keys: number; events: number; used: number }[]>`
    select (select count(*)::int from messages where account_id = ${accountId}) as messages,
           (select count(*)::int from delivery_queue where account_id = ${accountId}) as queued,
           (select count(*)::int from idempotency_keys where account_id = ${accountId}) as keys,
           (select count(*)::int from events where account_id = ${accountId} and type = 'processed') as events,
           (select coalesce(sum(used), 0)::int from credit_usage where account_id = ${accountId}) as used`
  return row
}

async function makeSubaccountOf(parent: Sender): Promise<Sender> {
  const sender = await service.makeSender()
  await sql`
    update accounts set parent_id = ${parent.accountId}, username = ${sender.accountName} where id = ${sender.accountId}`
  return sender
}

t.test('one credit is one recipient that is queued, and the last one goes out', async (t) => {
  const sender = await service.makeSender()
  await core.credits.limit(sender.accountId, 3)
  t.equal((await sendV2(base, sender.apiKey, v2Body(sender, to('a@harbor.example', 'b@harbor.example')))).status, 200)
  t.equal(await balanceOf(sender), 1)
  t.equal((await sendV2(base, sender.apiKey, v2Body(sender))).status, 200)
  t.equal(await balanceOf(sender), 0)
  t.match(await stored(sender), { messages: 2, queued: 3, used: 3 })
})

t.test('a copy costs a credit, a suppressed or malformed recipient none', async (t) => {
  const sender = await service.makeSender()
  await core.credits.limit(sender.accountId, 10)
  await core.suppressions.add({
    accountId: sender.accountId,
    scope: 'address',
    value: 'gone@harbor.example',
    reason: 'manual',
  })
  const body = v2Body(sender, {
    personalizations: [
      { recipient: 'a@harbor.example', recipient_cc: ['b@harbor.example'], recipient_bcc: ['c@harbor.example'] },
      { recipient: 'gone@harbor.example' },
      { recipient: 'no address' },
    ],
  })
  t.equal((await sendV2(base, sender.apiKey, body)).status, 200)
  t.equal(await balanceOf(sender), 7)
  await core.credits.limit(sender.accountId, 0)
  const free = v2Body(sender, to('gone@harbor.example'))
  t.equal((await sendV2(base, sender.apiKey, free)).status, 200, 'what costs nothing needs no credit')
})

t.test('a call that costs more than what is left is refused whole with 162, and stores nothing', async (t) => {
  const sender = await service.makeSender()
  await core.credits.limit(sender.accountId, 1)
  const body = v2Body(sender, to('a@harbor.example', 'b@harbor.example'))
  const answer = await call(base, { headers: { api_key: sender.apiKey, 'idempotency-key': 'k' }, body })
  refused(t, answer, EMPTY as [number, number, string])
  t.same(await stored(sender), { messages: 0, queued: 0, keys: 0, events: 0, used: 0 })
  t.equal(await balanceOf(sender), 1)
  t.equal((await sendV2(base, sender.apiKey, v2Body(sender))).status, 200, 'a smaller one goes')
  await core.credits.grant(sender.accountId, 2)
  const again = await call(base, { headers: { api_key: sender.apiKey, 'idempotency-key': 'k' }, body })
  t.equal(again.status, 200, 'its key is free for the next try')
  t.equal(again.headers['idempotent-replayed'], undefined)
})

t.test('the same call under the same key is charged once, also when nothing is left for a second one', async (t) => {
  const sender = await service.makeSender()
  await core.credits.limit(sender.accountId, 1)
  const once = () => sendV2(base, sender.apiKey, v2Body(sender), { 'idempotency-key': 'once' })
  const answers = await Promise.all(Array.from({ length: 40 }, once))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal(new Set(answers.map(({ body }) => body.data?.message_id)).size, 1)
  t.equal((await once()).status, 200, 'and once more with nothing left')
  t.equal(await balanceOf(sender), 0)
  t.match(await stored(sender), { messages: 1, queued: 1, keys: 1, used: 1 })
})

t.test('a message with a large attachment is charged like any other', async (t) => {
  const sender = await service.makeSender()
  await core.credits.limit(sender.accountId, 1)
  const attachments = [{ fileName: 'a', fileContent: Buffer.alloc(1_500_000, 'x').toString('base64') }]
  const send = () => sendV2(base, sender.apiKey, v2Body(sender, { attachments }))
  t.equal((await send()).status, 200)
  t.equal((await send()).status, 402)
  t.match(await stored(sender), { messages: 1, used: 1 })
  t.same(await sql`select count(*)::int as count from bodies where message_id not in (select id from messages)`, [
    { count: 0 },
  ])
})

t.test(
  'a subaccount without a limit of its own draws on its parent’s credit, one with a limit on its own',
  async (t) => {
    const parent = await service.makeSender()
    const [drawing, own] = [await makeSubaccountOf(parent), await makeSubaccountOf(parent)]
    await core.credits.limit(parent.accountId, 1)
    await core.credits.limit(own.accountId, 1)
    t.equal((await sendV2(base, own.apiKey, v2Body(own))).status, 200)
    t.same([await balanceOf(parent), await balanceOf(own)], [1, 0])
    t.equal((await sendV2(base, drawing.apiKey, v2Body(drawing))).status, 200)
    t.same([await balanceOf(parent), await balanceOf(drawing)], [0, null])
    for (const sender of [parent, drawing, own]) {
      t.equal((await sendV2(base, sender.apiKey, v2Body(sender))).body.error_info?.error_code, 162)
    }
    t.match(await stored(drawing), { used: 1 }, 'its use is counted as its own')
    t.match(await stored(parent), { used: 0 })
  },
)

t.test('an account without a limit waits for no balance', async (t) => {
  const [free, limited] = [await service.makeSender(), await service.makeSender()]
  await core.credits.limit(limited.accountId, 1)
  const pool = openDatabase({ url: String(service.env.DATABASE_URL), name: 'test', connections: 1 })
  t.teardown(() => pool.end())
  let waiting: Promise<V2Answer> | undefined
  await pool.begin(async (transaction) => {
    await transaction`lock table credit_balances in exclusive mode`
    for (let count = 0; count < 3; count++) {
      t.equal((await sendV2(base, free.apiKey, v2Body(free))).status, 200)
    }
    waiting = sendV2(base, limited.apiKey, v2Body(limited))
    const first = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])
    t.equal(first, 'waits', 'one with a limit does')
  })
  t.equal((await waiting)?.status, 200)
  t.match(await stored(free), { used: 3 })
})

t.test(
  `${CALLS} calls at once, ${ROUNDS} times over, charge exactly what they queue`,
  { timeout: 120_000 },
  async (t) => {
    const doors = [base, await openAnother(), await openAnother()]
    const limited = await service.makeSender()
    const drawing = await makeSubaccountOf(limited)
    const free = await service.makeSender()
    await core.suppressions.add({
      accountId: limited.accountId,
      scope: 'domain',
      value: 'reef.example',
      reason: 'manual',
    })
    await core.credits.limit(limited.accountId, 0)
    const begun = performance.now()

    /** Of five calls: one of another account, one of a subaccount that draws along, one that comes twice under a key. */
    const send = async (round: number, at: number) => {
      const sender = at % 5 === 0 ? free : at % 5 === 1 ? drawing : limited
      const cost = 1 + (at % 3)
      const recipients = Array.from({ length: cost }, (_, no) => `r${no}@harbor.example`)
      const keyed = at % 5 === 2
      const key = `${round}-${Math.floor(at / 10)}`
      const body = v2Body(sender, to(...(keyed ? ['r@harbor.example'] : recipients), 'nobody@reef.example'))
      const door = doors[at % doors.length] as string
      const { status, body: answer } = await sendV2(door, sender.apiKey, body, keyed ? { 'idempotency-key': key } : {})
      const suppressed = sender === limited ? 0 : 1
      const charge = sender === free ? 0 : (keyed ? 1 : cost) + suppressed
      return { status, code: answer.error_info?.error_code, id: answer.data?.message_id, charge, sender }
    }

    let kept = 0
    for (let round = 0; round < ROUNDS; round++) {
      // Often too little for all, sometimes nothing at all, now and then enough.
      const granted = round % 10 === 0 ? 0 : (round * 37) % 330
      if (granted > 0) await core.credits.grant(limited.accountId, granted)
      const before = (await balanceOf(limited)) as number
      const answers = await Promise.all(Array.from({ length: CALLS }, (_, at) => send(round, at)))
      const accepted = new Map(answers.flatMap(({ id, charge }) => (id === undefined ? [] : [[id, charge]])))
      const drop = before - ((await balanceOf(limited)) as number)
      const charged = [...accepted.values()].reduce((sum, charge) => sum + charge, 0)
      if (drop !== charged || drop > before)
        t.fail(`round ${round}: ${before} before, ${charged} accepted, ${drop} charged`)
      const wrong = answers.filter(({ status, code, sender }) =>
        sender === free ? status !== 200 : status !== 200 && (status !== 402 || code !== 162),
      )
      if (wrong.length > 0) t.fail(`round ${round}: ${JSON.stringify(wrong[0])}`)
      kept += accepted.size
      // The balance only falls meanwhile, so whoever was refused asked for more than what is left in the end.
      const left = before - drop
      const wronged = answers.find(({ status, charge }) => status === 402 && charge <= left)
      if (wronged) t.fail(`round ${round}: ${wronged.charge} refused, though ${left} were left`)
    }
    t.comment(`figures: ${Math.round((ROUNDS * CALLS * 1000) / (performance.now() - begun))} calls a second`)

    const all = await Promise.all([limited, drawing, free].map(stored))
    const [own, drawn, others] = all
    t.equal(
      all.reduce((sum, one) => sum + (one?.messages ?? 0), 0),
      kept,
      'refused ones stored nothing',
    )
    for (const one of all) t.match(one, { queued: one?.used, events: one?.used }, 'used is what was queued')
    t.ok((own?.messages ?? 0) > 500 && (drawn?.messages ?? 0) > 100)
    t.equal(others?.messages, (ROUNDS * CALLS) / 5, 'the account without a limit was never refused')
    t.same(
      await sql`select count(*)::int as count from idempotency_keys where message_id not in (select id from messages)`,
      [{ count: 0 }],
      'no key without its message',
    )
    const refusal = await call(base, {
      headers: { api_key: limited.apiKey },
      body: v2Body(limited, to(...Array.from({ length: 500 }, (_, no) => `n${no}@harbor.example`))),
    })
    t.match(errorText(refusal), /^Not enough credits/)
  },
)
