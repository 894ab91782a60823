import { randomBytes } from 'node:crypto'
import t from 'tap'
import { startObjectStorage } from '../../helpers/object-storage.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import type { Sender } from '../../helpers/service.ts'
import { mail, openSession, queueId } from '../../relay/session.ts'
import { finish, make } from './weeks.ts'

/** Mail whose content is not kept: by the account, a key or the message. */
const { service, sender } = await make(t)
const { sql, core } = service
const base = await service.openApi()
await service.openRelay()
const OPERATOR = { keyId: null, address: null }

const ONCE = { settings: { keepContent: false } }

async function send(extra: Record<string, unknown> = {}, by: Sender = sender): Promise<string> {
  const { body } = await sendV2(base, by.apiKey, v2Body(by, extra))
  if (!body.data) throw new Error(body.error_info?.error_message)
  return body.data.message_id
}

/** All turns come at once. */
async function removeAll(): Promise<void> {
  await sql`update retention_turns set turn_at = '-infinity'`
  while (await core.retention.removeContents());
}

async function isStored(id: string): Promise<boolean> {
  const rows = await sql`select from bodies where message_id = ${id}::uuid`
  return rows.length > 0
}

/** Whether a message still waits to be looked at. */
async function isNoted(id: string): Promise<boolean> {
  const rows = await sql`select from unkept_contents where message_id = ${id}::uuid`
  return rows.length > 0
}

t.test('the body goes once the last delivery has ended, and not before; what is not the content stays', async (t) => {
  const kept = await send()
  const id = await send({
    ...ONCE,
    tags: 'code',
    metadata: { order: '9001' },
    personalizations: [
      { recipient: 'lena@harbor.example', attributes: { CODE: '4711' }, 'x-headers': { 'X-Code': '4711' } },
      { recipient: 'ada@harbor.example', attributes: { CODE: '4712' } },
    ],
  })
  await removeAll()
  t.ok(await isStored(id), 'both wait')
  await finish(service)
  await removeAll()
  t.strictSame([await isStored(id), await isStored(kept), await isNoted(id)], [false, true, false])
  const deliveries =
    await sql`select recipient, personal from finished_deliveries where message_id = ${id}::uuid order by recipient_no`
  t.notMatch(JSON.stringify(deliveries), /471[12]/)
  t.match(deliveries[0]?.personal, { customArgs: { order: '9001' } })
  const shown = await core.messages.show(id)
  t.match(shown, { isBodyStored: false, keepsContent: false, subject: 'Berth 4', tags: ['code'] })
  t.match(await core.messages.show(kept), { isBodyStored: true, keepsContent: true })
})

t.test('a delivery that is queued again meanwhile has its content, which goes after it', async (t) => {
  const id = await send(ONCE)
  await sql`update delivery_queue set next_at = 'infinity' where message_id = ${id}::uuid`
  await removeAll()
  t.strictSame([await isStored(id), await isNoted(id)], [true, true])
  await finish(service)
  await removeAll()
  t.strictSame([await isStored(id), await isNoted(id)], [false, false])
})

t.test('the account or the key may say so for all mail, and a message cannot keep what they do not', async (t) => {
  const strict = await service.makeSender()
  await core.accounts.settings.change(strict.accountId, { keepContent: false }, OPERATOR)
  const fresh = await core.auth.createKey({ accountId: strict.accountId })
  const ofAccount = await send({ settings: { keepContent: true } }, { ...strict, apiKey: fresh.secret })
  const restricted = await core.auth.createKey({ accountId: sender.accountId, restrictions: { keepContent: false } })
  t.equal(restricted.key.restrictions.keepContent, false)
  const ofKey = await send({ settings: { keepContent: 1 } }, { ...sender, apiKey: restricted.secret })
  const ofNeither = await send({ settings: { keepContent: 1 } })
  await finish(service)
  await removeAll()
  t.strictSame([await isStored(ofAccount), await isStored(ofKey), await isStored(ofNeither)], [false, false, true])
})

t.test('by SMTP it is a setting or a field of its own', async (t) => {
  const client = await openSession(t, service, sender)
  const submit = async (field: string) =>
    queueId(await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, field)))
  const ids = [await submit('X-SETTINGS: {"keepContent":0}\r\n'), await submit('X-PR-Keep-Content: 0\r\n')]
  const [row] = await sql<
    { content: Buffer }[]
  >`select content from bodies where message_id = ${ids[1] as string}::uuid and part = 0`
  t.notMatch(String(row?.content), /keep-content/i)
  await finish(service)
  await removeAll()
  t.strictSame(await Promise.all(ids.map(isStored)), [false, false])
})

t.test('a message that is dropped for all its recipients loses its content, too', async (t) => {
  const id = await send({ ...ONCE, personalizations: [{ recipient: 'nobody' }] })
  await removeAll()
  t.strictSame([await isStored(id), await isNoted(id)], [false, false])
})

t.test(
  'more messages than one statement looks at are removed in one pass, those that wait are passed over',
  async (t) => {
    const [first, last] = [await send(ONCE), await send(ONCE)]
    await finish(service)
    const waits = await send(ONCE)
    await sql`
    insert into unkept_contents (message_id, account_id)
    select overlay(${first}::text placing lpad(to_hex(number), 12, '0') from 21)::uuid, ${sender.accountId} from generate_series(1, 2500) number
    on conflict do nothing`
    await removeAll()
    t.strictSame([await isStored(first), await isStored(last), await isStored(waits)], [false, false, true])
    const [row] = await sql`select count(*)::int as noted from unkept_contents`
    t.equal(row?.noted, 1)
    await finish(service)
  },
)

t.test('in object storage the object goes with its row', async (t) => {
  const storage = await startObjectStorage(t)
  const other = await make(t, storage.settings)
  const url = await other.service.openApi()
  const files = [{ fileName: 'photo.jpg', fileContent: randomBytes(100_000).toString('base64') }]
  const { body } = await sendV2(url, other.sender.apiKey, v2Body(other.sender, { ...ONCE, attachments: files }))
  const isThere = () => [...storage.objects.keys()].some((key) => key.endsWith(body.data?.message_id ?? '-'))
  t.ok(isThere())
  await finish(other.service)
  await other.service.sql`update retention_turns set turn_at = '-infinity'`
  while (await other.service.core.retention.removeContents());
  while (await other.service.core.retention.removeSome());
  t.notOk(isThere())
})
