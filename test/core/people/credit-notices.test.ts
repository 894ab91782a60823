import { type Account, OPERATOR } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { dueNow, tellOwners } from '../../helpers/owner-notices.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'
import { anotherProcess, newPerson } from './people.ts'

const service = await makeService(t, { SERVICE_DOMAIN: 'post.example', OPERATOR_MAIL: 'desk@operator.example' })
const { sql, core } = service
const installation = await core.accounts.create(`service-${process.pid}`)
await service.giveKey('post.example')
await core.domains.add({ accountId: installation.id, name: 'post.example', state: 'active' })

/** The mail about the credit of an account, in order. */
async function mailAbout(accountId: number) {
  await tellOwners(service)
  const rows = await sql<{ subject: string; to: string; text: string }[]>`
    select m.subject, q.recipient as to, convert_from(b.content, 'utf8') as text
      from messages m join bodies b on b.message_id = m.id and b.part = 0 join delivery_queue q on q.message_id = m.id
     where m.account_id = ${installation.id} and m.subject like ${`%(${accountId})%`} order by m.id`
  return [...rows]
}

const recipientsOf = async (accountId: number) => (await mailAbout(accountId)).map(({ to }) => to)

async function spend(sender: Sender, recipients: number): Promise<void> {
  const envelopes = Array.from({ length: recipients }, (_, n) => envelopeTo(`r${n}@harbor.example`))
  await acceptMessage(service, sender, { envelopes })
}

/** A user who logs in elsewhere: making a password takes longer than everything else here. */
async function makeMember(accountId: number, role: string) {
  const { name, email } = newPerson()
  const userId = await core.people.users.create({ name, email }, OPERATOR)
  await core.people.members.add(accountId, userId, role, OPERATOR)
  return { userId, email }
}

/** An account with this credit, and an owner. */
async function limited(credit: number) {
  const sender = await service.makeSender()
  const owner = await makeMember(sender.accountId, 'owner')
  await core.credits.limit(sender.accountId, credit)
  return { sender, accountId: sender.accountId, owner }
}

t.test('owners are told when 80 % of the credit is used, once after each refill', async (t) => {
  const { sender, accountId, owner } = await limited(50)
  const other = await makeMember(accountId, 'owner')
  await makeMember(accountId, 'developer')
  await spend(sender, 39)
  t.strictSame(await mailAbout(accountId), [], 'at 78 %')
  await spend(sender, 1)
  const [mail, ...more] = await mailAbout(accountId)
  t.match(mail, { subject: `The credit of the account ${sender.accountName} (${accountId}) is running low` })
  for (const part of ['credit for 10 more recipients, of 50', `/app/${accountId}/credits`, 'it lasts until '])
    t.match(mail?.text, part)
  t.strictSame(
    [mail?.to, ...more.map(({ to }) => to)].sort(),
    [owner.email, other.email].sort(),
    'in the order of their ids, whose last part is random',
  )
  await spend(sender, 10)
  t.equal((await mailAbout(accountId)).length, 2, 'the rest is used without another')
  await core.credits.grant(accountId, 10)
  t.equal((await mailAbout(accountId)).length, 2)
  await spend(sender, 8)
  t.equal((await mailAbout(accountId)).length, 4, 'the refill is used, too')
})

t.test('credit that moves to subaccounts is not used, and what comes back is a refill', async (t) => {
  const { sender, accountId } = await limited(110)
  const account = (await core.accounts.list()).find(({ id }) => id === accountId) as Account
  for (const [username, amount] of [
    ['dock', 85],
    ['quay', 10],
  ] as const) {
    const email = `${username}@ship.example`
    await core.subaccounts.create(account, { username, email, password: undefined, creditType: 'one_time_credit' })
    await core.subaccounts.increase(accountId, username, amount)
  }
  t.strictSame(await mailAbout(accountId), [], 'nothing is used')
  await spend(sender, 13)
  t.match((await mailAbout(accountId))[0]?.text, 'credit for 2 more recipients, of 15')
  const returns = [
    () => core.subaccounts.decrease(accountId, 'dock', 10),
    () => core.subaccounts.update(accountId, 'dock', { creditType: 'unlimited' }),
    () => core.subaccounts.remove(accountId, 'quay'),
  ]
  for (const [at, giveBack] of returns.entries()) {
    await giveBack()
    t.equal((await mailAbout(accountId)).length, at + 1, 'enough is left')
    await spend(sender, ((await core.credits.show(accountId)).available ?? 0) - 1)
    t.equal((await mailAbout(accountId)).length, at + 2, 'what came back is used, too')
  }
})

t.test('many workers send one email, whichever of them dies', async (t) => {
  const { sender, accountId } = await limited(5)
  await spend(sender, 5)
  const processes = [1, 2, 3, 4].map(() => anotherProcess(t, service))
  await Promise.all(processes.map((one) => one.readiness.check()))
  await Promise.all(processes.map((one) => tellOwners(service, one)))
  const [mail, ...more] = await mailAbout(accountId)
  t.match(mail?.subject, 'is used up')
  t.equal(more.length, 0)
  await sql`update owner_notices set state = 'waiting' where account_id = ${accountId}`
  await sql`update owner_notice_mails set tries = 1, due_at = service_now() where account_id = ${accountId}`
  t.equal((await mailAbout(accountId)).length, 1, 'also if one died before it noted that')
})

t.test('accepts of the account do not wait while a notice is noted or sent', async (t) => {
  const { sender, accountId } = await limited(100)
  await spend(sender, 90)
  await core.people.notices.findSome()
  await dueNow(service)
  await sql.begin(async (transaction) => {
    await transaction`select from owner_notices where account_id = ${accountId} for update`
    await spend(sender, 1)
  })
  await sql.begin(async (transaction) => {
    // As an accept that has not committed.
    await transaction`select from credit_balances where account_id = ${accountId} for update`
    t.equal((await mailAbout(accountId)).length, 1)
  })
})

t.test('a recurring credit is a refill in each of its periods', async (t) => {
  const { sender, accountId } = await limited(0)
  const [{ from, until }] = (await sql`
    select (service_now() at time zone 'UTC')::date::text as "from", ((service_now() at time zone 'UTC')::date + 9)::text as until`) as unknown as [
    { from: string; until: string },
  ]
  await sql`
    update credit_balances set recurring_amount = 10, recurring_every = 'day', recurring_from = ${from}::text::date,
           recurring_until = ${until}::text::date, recurring_active = true where account_id = ${accountId}`
  await spend(sender, 7)
  t.equal((await mailAbout(accountId)).length, 0)
  await spend(sender, 2)
  t.equal((await mailAbout(accountId)).length, 1)
  await moveClock(sql, '24 hours')
  t.equal((await mailAbout(accountId)).length, 1, 'nothing is used of the new day')
  await spend(sender, 9)
  t.equal((await mailAbout(accountId)).length, 2)
})

t.test('no notice is sent without an owner who can log in, or if notices are off', async (t) => {
  const without = await service.makeSender()
  await makeMember(without.accountId, 'developer')
  await core.credits.limit(without.accountId, 5)
  await spend(without, 5)
  const off = await limited(5)
  await core.accounts.settings.change(off.accountId, { accountNotices: false }, OPERATOR)
  await spend(off.sender, 5)
  const disabled = await limited(5)
  const unconfirmed = await makeMember(disabled.accountId, 'owner')
  await sql`update users set verified_at = null where id = ${unconfirmed.userId}`
  await sql`update users set disabled_at = service_now() where id = ${disabled.owner.userId}`
  await spend(disabled.sender, 5)
  for (const id of [without.accountId, off.accountId, disabled.accountId]) t.strictSame(await recipientsOf(id), [])
  const states = await sql`
    select state from owner_notices where account_id in (${without.accountId}, ${off.accountId}, ${disabled.accountId}) order by account_id`
  t.strictSame(
    states.map(({ state }) => state),
    ['no-address', 'off', 'no-address'],
  )
})

t.test('a refill before the mail is sent makes it needless, and mail that cannot be sent is tried again', async (t) => {
  const refilled = await limited(5)
  await spend(refilled.sender, 5)
  const late = await limited(5)
  await spend(late.sender, 5)
  await core.accounts.suspend(installation.id)
  await core.people.notices.findSome()
  await dueNow(service)
  await core.credits.grant(refilled.accountId, 100)
  const told = [await core.people.notices.sendSome(), await core.people.notices.sendSome()]
  t.match(told.find((one) => one?.accountId === late.accountId)?.problem, /suspended/i)
  await core.accounts.resume(installation.id)
  t.strictSame(await recipientsOf(late.accountId), [], 'not at once')
  await moveClock(sql, '25 hours')
  const sent = await recipientsOf(late.accountId)
  t.strictSame(sent, [late.owner.email])
  t.strictSame(await recipientsOf(refilled.accountId), [])
})
