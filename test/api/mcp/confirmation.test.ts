import type { ElicitResult } from '@modelcontextprotocol/client'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { connect, openOther, PROGRAM, planIn, use } from './clients.ts'

const service = await makeService(t, { MCP: 'on' })
const url = await service.openApi()
const sender = await service.makeSender()
const key = sender.apiKey
const { core, sql } = service

const mail = (recipient = 'lena@harbor.example') => ({
  personalizations: [{ recipient }],
  from: { fromEmail: `desk@${sender.domain}` },
  subject: 'Berth 4',
  content: '<p>Your berth is ready.</p>',
})
const count = async () => {
  const [row] = await sql`select count(*)::int as count from messages where account_id = ${sender.accountId}`
  return Number(row?.count)
}

for (const era of ['modern', 'legacy'] as const) {
  t.test(`where the client (${era}) cannot ask its user, a plan is confirmed by a second call, once`, async (t) => {
    const client = await connect(t, url, { key, era })
    const before = await count()
    const planned = await use(client, 'send_email', mail())
    t.match(planned.text, /^Nothing was done yet\..*lena@harbor\.example/s)
    t.equal(await count(), before)
    const confirm = planIn(planned)
    const { personalizations, ...others } = mail()
    const sent = await use(client, 'send_email', { confirm, ...others, personalizations })
    t.match(sent.json(), { data: { message_id: /^[0-9a-f]{32}$/ } }, 'in any order of the arguments')
    const again = await use(client, 'send_email', { ...mail(), confirm })
    t.strictSame(again.json(), sent.json(), 'a lost answer does not send twice')
    t.equal(await count(), before + 1)
  })
}

t.test('the user is asked where the client can, and the answer decides', async (t) => {
  const asked: string[] = []
  let answer: ElicitResult = { action: 'accept', content: { confirm: true } }
  const user = (message: string) => {
    asked.push(message)
    return answer
  }
  const client = await connect(t, url, { key, era: 'modern', user })
  const before = await count()
  t.match((await use(client, 'send_email', mail())).json(), { data: { message_id: String } })
  t.match(asked[0], /Send a message.*lena@harbor\.example/s)
  for (answer of [
    { action: 'accept', content: { confirm: false } },
    { action: 'decline' },
    { action: 'cancel' },
  ] as ElicitResult[]) {
    const told = await use(client, 'send_email', mail())
    t.match(told.text, /Nothing was done/, answer.action)
  }
  t.equal(await count(), before + 1)
  answer = { action: 'decline' }
  t.match((await use(client, 'send_email', { ...mail(), confirm: null })).text, /Nothing was done/, 'nor by null')
  t.equal(await count(), before + 1)
})

t.test('what is confirmed shows its recipients, however long its text, and what has no effect', async (t) => {
  const client = await connect(t, url, { key, era: 'modern' })
  const personalizations = [
    { recipient: 'lena@harbor.example', recipient_bcc: ['nina@quay.example'], recepient_cc: 'x' },
  ]
  const { text } = await use(client, 'send_email', { ...mail(), content: 'x'.repeat(50_000), personalizations })
  t.match(text, /lena@harbor\.example.*nina@quay\.example/)
  t.match(text, 'Recipients: 2.')
  t.match(text, /Without effect: .*recepient_cc/)
  t.ok(text.length < 3000, `${text.length} characters`)
  const attributes = { NAME: 'x'.repeat(5000) }
  const others = Array.from({ length: 30 }, (_, number) => ({ attributes, recipient: `r${number}@quay.example` }))
  const hidden = { ...mail(), personalizations: [null, ...others], settings: { bcc: 'mallory@elsewhere.example' } }
  const shown = (await use(client, 'send_email', hidden)).text
  t.match(shown, /Recipients: 60\..*mallory@elsewhere\.example.*r0@quay\.example.*r18@quay\.example.* and others\./)
  t.ok(shown.length < 3000, `${shown.length} characters`)
})

t.test('a plan is for its arguments, tool and key, for five minutes', async (t) => {
  const client = await connect(t, url, { key, era: 'modern' })
  const before = await count()
  const confirm = planIn(await use(client, 'send_email', mail()))
  t.ok(confirm)
  const refused = async (given: Record<string, unknown>, using = client) => {
    const told = await use(using, 'send_email', given)
    t.match(told, { isError: true, text: /not the id of a plan.*Nothing was done/s })
  }
  await refused({ ...mail('mallory@elsewhere.example'), confirm })
  for (const forged of [
    '',
    'yes',
    true,
    7,
    `${confirm}A`,
    confirm.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
  ])
    await refused({ ...mail(), confirm: forged })
  const { secret } = await core.auth.createKey({ accountId: sender.accountId, scopes: ['all'] })
  await refused({ ...mail(), confirm }, await connect(t, url, { key: secret, era: 'modern' }))
  const removal = { domain: 'harbor.example' }
  await use(client, 'add_suppression', removal)
  const other = planIn(await use(client, 'remove_suppression', removal))
  await refused({ ...mail(), confirm: other })
  t.match(await use(client, 'remove_suppression', { ...removal, confirm }), { isError: true })
  t.equal(await count(), before)
})

t.test('a plan of one process is confirmed in another', async (t) => {
  const other = await openOther(t, service)
  const [here, there] = [await connect(t, url, { key, era: 'modern' }), await connect(t, other, { key, era: 'modern' })]
  const before = await count()
  const confirm = planIn(await use(here, 'send_email', mail()))
  const sent = await use(there, 'send_email', { ...mail(), confirm })
  t.strictSame((await use(here, 'send_email', { ...mail(), confirm })).json(), sent.json(), 'and only once')
  t.equal(await count(), before + 1)
})

t.test('a message that would be refused is not planned', async (t) => {
  const client = await connect(t, url, { key, era: 'modern' })
  const told = await use(client, 'send_email', { ...mail(), from: { fromEmail: 'desk@nobody.example' } })
  t.match(told, { isError: true, text: /nobody\.example.*code \d+/s })
  const dry = await use(client, 'check_email', mail())
  t.strictSame(dry.json().data, { recipients: 1 })
})

for (const era of ['modern', 'legacy'] as const) {
  t.test(`the audit log says that an agent made the change, through which program (${era})`, async (t) => {
    const client = await connect(t, url, { key, era })
    await use(client, 'add_suppression', { email: `${era}@harbor.example` })
    const entry = (await core.audit.latest(sender.accountId, { limit: 1 })).at(0)
    t.match(entry, { action: /suppression/, agent: `${PROGRAM.name} ${PROGRAM.version}`, address: '127.0.0.1' })
    t.equal(await core.audit.firstBroken(sender.accountId), null)
    const shown = await use(client, 'list_audit', { after: Number(entry?.number) - 1 })
    t.match(shown.json(), { data: [{ agent: 'harbor-agent 1.4.0' }] })
  })
}
