import t, { type Test } from 'tap'
import { moveClock, stopClock } from '../../helpers/database.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { mail, NOTHING, openSession, queueId, stored } from '../../relay/session.ts'
import { asForm, type CallAnswer, call, errorText, FORM, messageIdOf, refused } from '../call.ts'

/** What a key may send: the same by HTTP and by SMTP. */
const service = await makeService(t)
const url = await service.openApi()
await service.openRelay()
const { auth, templates } = service.core

type Restrictions = NonNullable<Parameters<typeof auth.createKey>[0]['restrictions']>
type Body = Record<string, unknown>

/** A sender whose key is restricted. */
async function restricted(restrictions: Restrictions): Promise<Sender> {
  const sender = await service.makeSender()
  const { secret } = await auth.createKey({ accountId: sender.accountId, scopes: ['send'], restrictions })
  return { ...sender, apiKey: secret }
}
const send = (sender: Sender, extra: Body = {}, headers: Record<string, string> = {}): Promise<CallAnswer> =>
  call(url, { headers: { api_key: sender.apiKey, ...headers }, body: v2Body(sender, extra) })
const submit = async (t: Test, sender: Sender, to: string | string[], fields = ''): Promise<string> => {
  const client = await openSession(t, service, sender)
  return client.submit(`desk@${sender.domain}`, to, mail(sender, fields))
}
const no = (what: string) => [403, 104, `This api_key is not allowed to ${what}`] as const

t.test('a key for some templates sends nothing else', async (t) => {
  const sender = await restricted({ templates: [2_000_000_000] })
  const named = async (name: string) =>
    (await templates.create({ accountId: sender.accountId, name, content: '<p>Berth</p>' })).id
  const [good, other] = [await named('good'), await named('other')]
  const [key] = (await auth.listKeys(sender.accountId)).slice(-1)
  await auth.updateKey(key?.id ?? 0, { restrictions: { templates: [good] } })
  messageIdOf(await send(sender, { templateId: good, content: undefined }))
  messageIdOf(
    await call(url, {
      headers: { ...FORM, api_key: sender.apiKey },
      body: asForm(v2Body(sender, { templateId: good })),
    }),
  )
  refused(t, await send(sender, { templateId: other }), no('use this template'))
  refused(t, await send(sender, { templateId: 2_000_000_000 }), no('use this template'), 'whether it is there or not')
  refused(t, await send(sender), no('send mail without a template'))
  queueId(await submit(t, sender, 'lena@harbor.example', `X-TEMPLATEID: ${good}\r\n`))
  t.equal(
    await submit(t, sender, 'lena@harbor.example', `X-TEMPLATEID: ${other}\r\n`),
    '550 5.7.1 This api_key is not allowed to use this template',
  )
  t.equal(
    await submit(t, sender, 'lena@harbor.example'),
    '550 5.7.1 This api_key is not allowed to send mail without a template',
  )
  t.match(await stored(service, sender), { messages: 3 })
})

t.test('a key for some sender domains sends from no other, though the account may', async (t) => {
  const sender = await restricted({ senderDomains: ['pier.example'] })
  await service.core.domains.add({ accountId: sender.accountId, name: 'pier.example', state: 'active' })
  messageIdOf(await send(sender, { from: { fromEmail: 'desk@Pier.Example' } }))
  refused(t, await send(sender), no('send from this domain'))
  refused(
    t,
    await send(sender, { from: { fromEmail: 'desk@nobody.example' } }),
    [400, 112],
    'whoever may not send at all',
  )
  t.equal(
    await submit(t, sender, 'lena@harbor.example'),
    '550 5.7.1 This api_key is not allowed to send from this domain',
  )
  queueId(await submit(t, { ...sender, domain: 'pier.example' }, 'lena@harbor.example'))
  t.match(await stored(service, sender), { messages: 2 })
})

t.test('a key for some recipient domains sends to no other, not even a copy', async (t) => {
  const sender = await restricted({ recipientDomains: ['harbor.example'] })
  const to = (personalization: Body, extra: Body = {}) =>
    send(sender, { personalizations: [{ recipient: 'lena@harbor.example', ...personalization }], ...extra })
  messageIdOf(await to({ recipient_cc: ['mina@HARBOR.example'], recipient_bcc: ['no address'] }))
  for (const answer of [
    await to({ recipient: 'lena@quay.example' }),
    await to({ recipient_cc: ['mina@quay.example'] }),
    await to({ recipient_bcc: 'mina@harbor.example, nina@quay.example' }),
    await to({}, { settings: { bcc: 'books@quay.example' } }),
    await to({ recipient: 'lena@quay.example', recipient_cc: ['mina@harbor.example'] }),
  ]) {
    refused(t, answer, no('send to quay.example'))
  }
  refused(t, await to({ recipient: 'lena@a.harbor.example' }), no('send to a.harbor.example'))
  queueId(await submit(t, sender, 'lena@harbor.example'))
  const said = '550 5.7.1 This api_key is not allowed to send to quay.example'
  t.equal(await submit(t, sender, ['lena@harbor.example', 'mina@quay.example']), said)
  t.equal(await submit(t, sender, 'lena@harbor.example', 'X-SETTINGS: {"bcc":"books@quay.example"}\r\n'), said)
  t.match(await stored(service, sender), { messages: 2 })
})

t.test('a key with a limit of recipients per hour gets 429 beyond it, at either entry point', async (t) => {
  await stopClock(service.sql)
  const sender = await restricted({ recipientsPerHour: 5 })
  messageIdOf(
    await send(sender, { personalizations: [{ recipient: 'a@harbor.example', recipient_cc: ['b@harbor.example'] }] }),
  )
  queueId(await submit(t, sender, ['c@harbor.example', 'd@harbor.example']))
  const two = { personalizations: [{ recipient: 'e@harbor.example' }, { recipient: 'f@harbor.example' }] }
  const answer = await send(sender, two)
  refused(t, answer, [
    429,
    429,
    /^Rate limit of 5 recipients per hour for this api_key exceeded\. Retry after 3\d{3} s$/,
  ])
  t.match(answer.headers['retry-after'], /^3\d{3}$/)
  t.match(
    await submit(t, sender, ['e@harbor.example', 'f@harbor.example']),
    /^450 4\.7\.1 Rate limit of 5 recipients per hour for this api_key exceeded\. Retry after 3\d{3} s$/,
  )
  messageIdOf(await send(sender))
  t.equal((await send(sender)).status, 429)
  const six = Array.from({ length: 6 }, (_, n) => ({ recipient: `r${n}@harbor.example` }))
  refused(
    t,
    await send(sender, { personalizations: six }),
    no('send to more than 5 recipients per hour'),
    'never would it do',
  )
  t.strictSame(await stored(service, sender), { messages: 3, deliveries: 5 })
  await stopClock(service.sql, { hours: 1 })
  await until('the next hour', async () => (await send(sender)).status === 200)
  await moveClock(service.sql, '0 hours')
})

t.test('what was refused for another reason, or answered again, takes nothing of the hour', async (t) => {
  await stopClock(service.sql)
  const sender = await restricted({ recipientsPerHour: 2 })
  for (let time = 0; time < 3; time++) {
    t.equal((await send(sender, { templateId: 2_000_000_000 })).status, 400)
    t.equal((await send(sender, { subject: '' })).status, 400)
  }
  const key = { 'idempotency-key': 'berth 4' }
  const first = messageIdOf(await send(sender, {}, key))
  for (let time = 0; time < 3; time++) t.equal(messageIdOf(await send(sender, {}, key)), first)
  messageIdOf(await send(sender))
  t.equal((await send(sender)).status, 429)
  const again = await send(sender, {}, key)
  t.equal(messageIdOf(again), first, 'the first answer comes also when nothing is left')
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.match(errorText(await send(sender, { subject: 'other' }, key)), /Idempotency-Key/)
  await moveClock(service.sql, '0 hours')
})

t.test(
  'urgent mail that the limit of its key refuses takes nothing of what its account may send as urgent',
  async (t) => {
    await stopClock(service.sql)
    const sender = await restricted({ recipientsPerHour: 180 })
    const urgent = (recipients: number) => {
      const personalizations = Array.from({ length: recipients }, (_, n) => ({ recipient: `r${n}@harbor.example` }))
      return send(sender, { settings: { class: 'urgent' }, personalizations })
    }
    messageIdOf(await urgent(150))
    for (let time = 0; time < 3; time++) t.equal((await urgent(150)).status, 429)
    refused(t, await urgent(181), no('send to more than 180 recipients per hour'))
    const rate = { name: `urgent ${sender.accountId}`, what: 'urgent recipients per minute', limit: 600, seconds: 60 }
    t.match(await service.core.rateLimits.take([rate], 450), { refused: false })
    await moveClock(service.sql, '0 hours')
  },
)

t.test('200 calls at once send to exactly as many as the key may', async (t) => {
  await stopClock(service.sql)
  const sender = await restricted({ recipientsPerHour: 120 })
  const answers = await Promise.all(Array.from({ length: 200 }, () => send(sender)))
  t.equal(answers.filter(({ status }) => status === 200).length, 120)
  t.equal(answers.filter(({ status }) => status === 429).length, 80)
  t.match(await stored(service, sender), { deliveries: 120 })
  await moveClock(service.sql, '0 hours')
})

t.test('a key past its end sends nothing by either door: 101, 535', async (t) => {
  const sender = await restricted({ until: new Date(Date.now() + 3_600_000) })
  await moveClock(service.sql, '61 minutes')
  refused(t, await send(sender), [401, 101, 'Invalid api_key'])
  await t.rejects(openSession(t, service, sender), /535/)
  t.strictSame(await stored(service, sender), NOTHING)
  await moveClock(service.sql, '0 hours')
})
