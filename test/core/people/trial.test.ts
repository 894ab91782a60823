import type { Test } from 'tap'
import t from 'tap'
import { moveClock, stopClock } from '../../helpers/database.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { openSession, queueId } from '../../relay/session.ts'
import { mailedLink } from './mailed.ts'
import { anotherProcess, newClient, newPerson } from './people.ts'

const OPERATOR_DOMAIN = 'post.operator.example'
const ONBOARDING = `onboarding@${OPERATOR_DOMAIN}`

const service = await makeService(t, { SERVICE_DOMAIN: OPERATOR_DOMAIN, SIGN_UP: 'open' })
const base = await service.openApi()
await service.openRelay()
await service.giveKey(OPERATOR_DOMAIN)
const operator = await service.core.accounts.create('operator')
await service.core.domains.add({ accountId: operator.id, name: OPERATOR_DOMAIN, state: 'active' })

/** An account made by sign-up, with a key. */
async function signUp({ core, sql }: TestService) {
  const person = newPerson()
  const client = newClient()
  await core.people.signUp.request(person.email, client)
  await core.people.close()
  const token = await mailedLink(sql, person.email, 'verify')
  const { accountId } = await core.people.signUp.verify(token, person, client)
  const { secret: apiKey } = await core.auth.createKey({ accountId })
  return { accountId, apiKey, email: person.email, accountName: '', domain: OPERATOR_DOMAIN }
}

type Trial = Awaited<ReturnType<typeof signUp>>

const to = (...recipients: readonly string[]) => recipients.map((recipient) => ({ recipient }))
const from = (fromEmail: string) => ({ from: { fromEmail } })

const byV2 = (trial: Trial, extra: Record<string, unknown> = {}) =>
  sendV2(base, trial.apiKey, v2Body(trial, { ...from(ONBOARDING), personalizations: to(trial.email), ...extra }))

function byV3({ apiKey, email }: Trial, extra: Record<string, unknown> = {}) {
  const body = {
    personalizations: [{ to: [{ email }] }],
    from: { email: ONBOARDING },
    subject: 'Berth 4',
    content: [{ type: 'text/plain', value: 'Your berth is ready.' }],
    ...extra,
  }
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return fetch(`${base}/v3/mail/send`, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function bySmtp(t: Test, trial: Trial, { sender = ONBOARDING, recipient = trial.email } = {}) {
  const client = await openSession(t, service, trial)
  return client.submit(sender, recipient, `From: ${sender}\r\nTo: ${recipient}\r\nSubject: s\r\n\r\nhello\r\n`)
}

t.test('an account made by sign-up sends to its own address, by v2, v3 and SMTP', async (t) => {
  const trial = await signUp(service)
  const v2 = await byV2(trial, { personalizations: to(trial.email.toUpperCase()) })
  t.equal(v2.status, 200)
  t.equal((await byV3(trial)).status, 202)
  const message = await service.core.messages.show(queueId(await bySmtp(t, trial)))
  t.match(message, { accountId: trial.accountId, from: ONBOARDING })
})

t.test('it sends to no other address, and the error names the parameter', async (t) => {
  const trial = await signUp(service)
  const only = `may contain only ${trial.email} until a domain of the account is active; add a domain and publish its DNS records`
  const v2 = await byV2(trial, { personalizations: to(trial.email, 'lena@harbor.example') })
  t.match(v2, { status: 400, body: { error_info: { error_code: 113 } } })
  t.equal(v2.body.error_info?.error_message, `Parameter [personalizations[1].recipient] is invalid: ${only}`)
  const copies = await byV2(trial, {
    personalizations: [{ recipient: trial.email, recipient_bcc: ['lena@harbor.example'] }],
  })
  t.match(copies.body.error_info?.error_message, `Parameter [personalizations[0].recipient_bcc] is invalid: ${only}`)
  const v3 = await byV3(trial, { personalizations: [{ to: [{ email: trial.email }], cc: [{ email: 'a@b.example' }] }] })
  t.equal(v3.status, 400)
  t.match(await v3.json(), { errors: [{ field: 'personalizations.0.cc', message: /may contain only / }] })
  t.match(await bySmtp(t, trial, { recipient: 'lena@harbor.example' }), /^550 5\.6\.0 .*\[RCPT TO\].*may contain only /)
})

t.test('it sends from the onboarding address only, which the error names', async (t) => {
  const trial = await signUp(service)
  for (const other of [`noreply@${OPERATOR_DOMAIN}`, 'desk@unknown.example']) {
    const refused = await byV2(trial, from(other))
    t.equal(refused.body.error_info?.error_code, 112)
    t.match(refused.body.error_info?.error_message, `until a domain of the account is active, send from ${ONBOARDING}`)
  }
  t.match(await bySmtp(t, trial, { sender: `noreply@${OPERATOR_DOMAIN}` }), /^550 5\.7\.1 .*send from onboarding@/)
  const client = await openSession(t, service, trial)
  t.match(await client.command('MAIL FROM:<desk@unknown.example>'), /^550 5\.7\.1 .*send from onboarding@/)
  const own = { email: `noreply@${OPERATOR_DOMAIN}` }
  t.equal((await byV3(trial, { personalizations: [{ to: [{ email: trial.email }], from: own }] })).status, 403)
})

t.test('other accounts may not use the onboarding address', async (t) => {
  const sender = await service.makeSender()
  const refused = await sendV2(base, sender.apiKey, v2Body(sender, from(ONBOARDING)))
  t.equal(refused.body.error_info?.error_code, 112)
  t.notMatch(refused.body.error_info?.error_message, 'onboarding@post.operator.example,')
})

t.test(
  'urgent mail that the limit of a day refuses takes nothing of what the account may send as urgent',
  async (t) => {
    await stopClock(service.sql)
    const trial = await signUp(service)
    const personalizations = to(...Array.from({ length: 60 }, () => trial.email))
    const urgent = async () => (await byV2(trial, { settings: { class: 'urgent' }, personalizations })).status
    t.equal(await urgent(), 200)
    for (let time = 0; time < 9; time++) t.equal(await urgent(), 429)
    const rate = { name: `urgent ${trial.accountId}`, what: 'urgent recipients per minute', limit: 600, seconds: 60 }
    t.match(await service.core.rateLimits.take([rate], 540), { refused: false })
    await moveClock(service.sql, '0 hours')
  },
)

t.test('a day has a hundred recipients, in all processes together', async (t) => {
  const trial = await signUp(service)
  const other = anotherProcess(t, service)
  await other.readiness.check()
  const principal = await other.auth.authenticate(trial.apiKey, '127.0.0.1')
  const many = await byV2(trial, { personalizations: to(...Array.from({ length: 101 }, () => trial.email)) })
  t.match(
    many.body.error_info?.error_message,
    'may contain 100 addresses per day until a domain of the account is active',
  )
  t.equal((await byV2(trial, { personalizations: to(...Array.from({ length: 96 }, () => trial.email)) })).status, 200)
  const { plainMail } = await import('@postrider/core')
  const mail = plainMail({
    principal,
    from: { email: ONBOARDING, name: '' },
    to: trial.email,
    clientAddress: '127.0.0.1',
  })
  const accept = () =>
    other.messages
      .accept({ ...mail, subject: 's', content: { kind: 'parts', html: undefined, text: 'x', amp: undefined } })
      .then(
        () => 'accepted',
        (error) => error.errorName,
      )
  t.same([await accept(), await accept(), await accept(), await accept()], Array(4).fill('accepted'))
  t.equal(await accept(), 'rateLimited')
  const refused = await byV2(trial)
  t.equal(refused.status, 429)
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.match(refused.body.error_info?.error_message, 'Rate limit of 100 test messages per day, which holds until a domain')
  t.equal((await byV3(trial)).status, 429)
  t.match(await bySmtp(t, trial), /^450 4\.7\.1 /)
})

t.test('a repeated call of the day’s last message returns that message', async (t) => {
  const trial = await signUp(service)
  const body = v2Body(trial, {
    ...from(ONBOARDING),
    personalizations: to(...Array.from({ length: 100 }, () => trial.email)),
  })
  const key = { 'idempotency-key': 'the last one' }
  const first = await sendV2(base, trial.apiKey, body, key)
  const again = await sendV2(base, trial.apiKey, body, key)
  t.equal(again.body.data?.message_id, first.body.data?.message_id)
})

t.test(
  'with an active domain of its own, an account sends to anyone, and no longer from the onboarding address',
  async (t) => {
    const trial = await signUp(service)
    const domain = `own${trial.accountId}.example`
    await service.giveKey(domain)
    await service.core.domains.add({ accountId: trial.accountId, name: domain, state: 'active' })
    const { secret: apiKey } = await service.core.auth.createKey({ accountId: trial.accountId })
    const own = { ...trial, apiKey }
    const sent = await byV2(own, { ...from(`desk@${domain}`), personalizations: to('lena@harbor.example') })
    t.equal(sent.status, 200)
    t.equal((await byV2(own)).body.error_info?.error_code, 112)
  },
)
