import t from 'tap'
import { fillBlocks } from '../../../packages/core/src/messages/search/fill-blocks.ts'
import { lineOf } from '../../../packages/core/src/reporting/exports/row.ts'
import { v2Body as webhookBody } from '../../../packages/core/src/reporting/formats/v2/webhook-body.ts'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { mail, openSession, queueId } from '../../relay/session.ts'
import { call, errorText } from '../call.ts'

/** The sender's own names and values on a message, and where they come back. */
const service = await makeService(t)
const base = await service.openApi()
await service.openRelay()
const { core } = service
const sender = await service.makeSender()
const get = async (path: string) =>
  (await call(base, { method: 'GET', path, headers: { api_key: sender.apiKey } })).json as Record<string, unknown>

const lena = 'lena@harbor.example'

async function send(extra: Record<string, unknown>): Promise<string> {
  const { body } = await sendV2(base, sender.apiKey, v2Body(sender, extra))
  if (!body.data) throw new Error(body.error_info?.error_message)
  return body.data.message_id
}

async function metadataOf(id: string): Promise<unknown[]> {
  const { data } = await get(`/v2/messages/${id}`)
  return (data as { deliveries: { metadata: unknown }[] }).deliveries.map(({ metadata }) => metadata)
}

t.test('those of the call and of a personalization come back with the message, the latter first', async (t) => {
  const id = await send({
    metadata: { order: '9001', plan: 'gold' },
    personalizations: [
      { recipient: lena, metadata: { plan: 'free', seat: 4, window: true } },
      { recipient: 'ada@harbor.example' },
    ],
  })
  t.strictSame(await metadataOf(id), [
    { order: '9001', plan: 'free', seat: '4', window: 'true' },
    { order: '9001', plan: 'gold' },
  ])
  t.strictSame(await metadataOf(await send({})), [null], 'without any there is null')
})

t.test('by SMTP and as a raw message they are in X-METADATA, which is removed', async (t) => {
  const field = 'X-METADATA: {"order":"9002","seat":4}\r\n'
  const client = await openSession(t, service, sender)
  const id = queueId(await client.submit(`desk@${sender.domain}`, lena, mail(sender, field)))
  t.strictSame(await metadataOf(id), [{ order: '9002', seat: '4' }])
  const source = await call(base, {
    method: 'GET',
    path: `/v2/messages/${id}/source`,
    headers: { api_key: sender.apiKey },
  })
  t.notMatch(source.text, /metadata/i)
  const long = `X-METADATA: {"a":"${'b'.repeat(2048)}"}\r\n`
  t.match(await client.submit(`desk@${sender.domain}`, lena, mail(sender, long)), /^5\d\d .*\[X-METADATA\].*2048 bytes/)
  for (const [name, value] of [
    ['X-METADATA', '{"a":"b\\u0000"}'],
    ['X-SMTPAPI.unique_args', '{"unique_args":{"a":"b\\u0000"}}'],
  ] as const) {
    const odd = mail(sender, `${name.split('.', 1)[0]}: ${value}\r\n`)
    t.match(
      await client.submit(`desk@${sender.domain}`, lena, odd),
      `Parameter [${name}] is invalid: must not contain NUL`,
    )
  }
})

t.test('events have them: in the feed, in webhooks and in exports', async (t) => {
  await send({ metadata: { order: '9003' } })
  await numberEvents(service)
  const { data } = await get('/v2/events/feed?after=0&limit=1000')
  const entries = data as { metadata: unknown; type: string }[]
  t.match(entries.at(-1), { type: 'processed', metadata: { order: '9003' } })
  const { events } = await core.events.feed({
    accountId: sender.accountId,
    after: 0,
    limit: 1000,
    milliseconds: 0,
  } as never)
  const event = { ...(events.at(-1) as (typeof events)[number]), type: 'sent' as const }
  const options = { asText: false, abuse: false, eventIds: false }
  t.match(JSON.parse(webhookBody([event], options)), [{ EVENT: 'sent', METADATA: { order: '9003' } }])
  t.match(JSON.parse(webhookBody([event], { ...options, asText: true })), [{ METADATA: '{"order":"9003"}' }])
  t.match(JSON.parse(lineOf('json', event)), { METADATA: { order: '9003' } })
  t.match(lineOf('csv', event), /"\{""order"":""9003""\}"/)
  const without = { ...event, delivery: event.delivery && { ...event.delivery, customArgs: null } }
  t.notOk(Object.hasOwn(JSON.parse(webhookBody([without], options))[0], 'METADATA'), 'a message without has no field')
})

t.test('a search finds their values, in messages that are in blocks and in those that are not yet', async (t) => {
  const id = await send({ metadata: { cart: 'Übersee-77413' } })
  const found = async (search: string) => {
    const { data } = await get(`/v2/messages?search=${encodeURIComponent(search)}`)
    return (data as { messageId: string }[]).map(({ messageId }) => messageId)
  }
  for (const search of ['77413', 'ref:uebersee', 'übersee-77413']) t.strictSame(await found(search), [id], search)
  await moveClock(service.sql, '1 hour')
  while (await fillBlocks(service.sql));
  for (const search of ['77413', 'ref:uebersee']) t.strictSame(await found(search), [id], `${search}, in a block`)
  await moveClock(service.sql, '0 hours')
})

t.test('more than 2,048 bytes, and objects as values, are refused by name', async (t) => {
  const refusal = async (extra: Record<string, unknown>) =>
    errorText(
      await call(base, {
        headers: { api_key: sender.apiKey, 'content-type': 'application/json' },
        body: v2Body(sender, extra),
      }),
    )
  const half = 'x'.repeat(1024)
  t.match(
    await refusal({ metadata: { a: half + half } }),
    /^Parameter \[metadata\] is invalid: must have at most 2048 bytes in all$/,
  )
  t.match(
    await refusal({ metadata: { a: half }, personalizations: [{ recipient: lena, metadata: { b: half } }] }),
    /^Parameter \[personalizations\[0\]\.metadata\] is invalid: must have at most 2048 bytes in all$/,
  )
  t.match(await refusal({ metadata: { a: {} } }), /^Parameter \[metadata\.a\] is invalid: /)
  t.match(await refusal({ metadata: 'a' }), /^Parameter \[metadata\] is invalid: /)
  t.match(
    await refusal({ personalizations: [{ recipient: lena, metadata: { a: 'b\0' } }] }),
    /\[personalizations\[0\]\.metadata\]/,
  )
  await send({ metadata: { a: 'x'.repeat(2047) } })
})
