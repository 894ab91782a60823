import { fromShortMessageId, shortMessageId } from '@postrider/core'
import t from 'tap'
import { sendV2, v2Body } from '../../helpers/send.ts'
import { until } from '../../helpers/until.ts'
import { type Copy, headerLines } from '../arrivals.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { type Fields, mailBody, toLena } from './mail.ts'
import { makeMailArrivals, messageIdOf } from './mail-arrivals.ts'

const { service, base, sender, sink, send, copies, story } = await makeMailArrivals(t)
const { sql } = service
for (const id of [12, 13, 311, 312]) {
  await service.core.groups.create(sender.accountId, { id, name: `Group ${id}`, description: 'd', isDefault: false })
}
const key = sender.apiKey

const fieldsOf = ({ raw }: Copy, name: RegExp) => headerLines(raw).filter((line) => name.test(line))

t.test('the least mail gets 202 with its id and nothing else, and arrives', async (t) => {
  const answer = await send()
  t.match(answer, { status: 202, text: '', headers: { 'content-length': '0' } }, 'P1')
  t.match(answer.headers['x-message-id'], /^[A-Za-z0-9_-]{22}$/)
  t.strictSame(
    ['x-ratelimit-limit', 'content-type'].map((name) => answer.headers[name]),
    [undefined, undefined],
  )
  const [copy] = await copies(answer)
  t.match(copy?.mail, { subject: 'Berth 4', from: { value: [{ address: `desk@${sender.domain}` }] } })
  t.match(copy?.raw, /\r\nTo: lena@harbor\.example\r\n/)
  t.match(copy?.raw, /Content-Type: text\/plain; charset=utf-8\r\n[\s\S]*\r\n\r\nYour berth is ready\./)
  t.equal((await story(answer)).door, 'v3')
})

t.test('an id of 22 characters and one of 32 digits are the same id', async (t) => {
  const answer = await send()
  const { id } = await story(answer)
  t.equal((await service.core.messages.show(String(answer.headers['x-message-id'])))?.id, id)
  t.equal(fromShortMessageId(shortMessageId(id)), id)
  for (const wrong of ['', 'x', `${shortMessageId(id)}x`, `${shortMessageId(id).slice(0, 21)}_`, id]) {
    t.equal(fromShortMessageId(wrong), undefined, wrong)
  }
})

t.test(
  'to and cc recipients of a personalization see each other, bcc is hidden, and personalizations are separate',
  async (t) => {
    proves(t, 'personalizations', 'from-reply_to-subject')
    const answer = await send({
      personalizations: [
        {
          to: [{ email: 'lena@harbor.example' }, { email: 'mina@harbor.example' }],
          cc: [{ email: 'ops@harbor.example' }],
          bcc: [{ email: 'audit@quay.example' }],
        },
        { to: [{ email: 'lena@harbor.example' }] },
      ],
      from: { email: `desk@${sender.domain}`, name: 'Ship, Desk; "Co"' },
      reply_to: { email: 'help@quay.example' },
    })
    const all = await copies(answer, 5)
    const lists = (raw: string) => headerLines(raw).filter((line) => /^(to|cc): /i.test(line))
    const first = ['To: lena@harbor.example, mina@harbor.example', 'Cc: ops@harbor.example']
    t.strictSame(
      all.map(({ recipient, raw }) => [recipient, ...lists(raw)]).sort(),
      [
        ['audit@quay.example', ...first],
        ['lena@harbor.example', 'To: lena@harbor.example'],
        ...['lena', 'mina', 'ops'].map((name) => [`${name}@harbor.example`, ...first]),
      ],
      'P7: the same address in two personalizations is two mails',
    )
    for (const { raw, mail } of all) {
      t.notMatch(raw, /audit@quay/)
      t.match(mail, {
        from: { value: [{ address: `desk@${sender.domain}`, name: 'Ship, Desk; "Co"' }] },
        replyTo: { value: [{ address: 'help@quay.example' }] },
      })
    }
  },
)

t.test('text, AMP and HTML become alternatives in this order', async (t) => {
  proves(t, 'content')
  const answer = await send({
    content: [
      { type: 'text/plain', value: 'Thänks' },
      { type: 'text/x-amp-html', value: '<html ⚡4email></html>' },
      { type: 'text/HTML', value: '<p>Thanks</p>' },
    ],
  })
  const [copy] = await copies(answer)
  t.strictSame(
    [...(copy?.raw ?? '').matchAll(/Content-Type: ([\w/.-]+)/g)].map(([, type]) => type),
    ['multipart/alternative', 'text/plain', 'text/x-amp-html', 'text/html'],
  )
  t.equal(copy?.mail.html, '<p>Thanks</p>')
})

t.test('attachments arrive with their names, in any language', async (t) => {
  proves(t, 'attachments', 'disposition')
  const octets = Buffer.from([...Array(256).keys()])
  const answer = await send({
    attachments: [
      { content: octets.toString('base64'), filename: 'plän.pdf', type: 'application/pdf', disposition: 'attachment' },
      { content: 'aGVsbG8=', filename: 'a.txt', type: 'text/plain' },
    ],
  })
  const [copy] = await copies(answer)
  t.strictSame(
    copy?.mail.attachments.map(({ filename, content }) => [filename, content.toString('hex')]),
    [
      ['plän.pdf', octets.toString('hex')],
      ['a.txt', Buffer.from('hello').toString('hex')],
    ],
  )
  t.equal(copy?.raw.match(/Content-Disposition: attachment;/g)?.length, 2)
})

t.test(
  'headers of the message and of a personalization are merged; those of the personalization win, ignoring case',
  async (t) => {
    proves(t, 'headers', 'x-smtpapi-header')
    const answer = await send({
      headers: {
        'X-Order': '1',
        'X-Tenant': 'eu',
        'X-SMTPAPI': '{"to":["spy@quay.example"]}',
        'In-Reply-To': '<a@quay.example>',
      },
      ...toLena({ headers: { 'x-order': '2', 'List-Unsubscribe': '<https://quay.example/u>' } }),
    })
    const [copy] = (await copies(answer)) as [Copy]
    t.strictSame(fieldsOf(copy, /^(x-(?!pr-ref)|list-|in-reply)/i).sort(), [
      'In-Reply-To: <a@quay.example>',
      'List-Unsubscribe: <https://quay.example/u>',
      'X-Tenant: eu',
      'x-order: 2',
    ])
    refusedV3(t, await send({ headers: { Subject: 'now' } }), [400, /reserved/, 'headers.Subject'])
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`X-${at}`, 'x']))
    refusedV3(t, await send(toLena({ headers: many })), [400, /at most 50/, 'personalizations.0.headers'])
  },
)

t.test('a Message-ID of the client’s own is the message’s', async (t) => {
  const answer = await send({ headers: { 'message-id': '<4711.a@quay.example>' } })
  t.equal(answer.status, 202)
  const arrived = await until('the message', () =>
    sink.messages.find(({ data }) => data.includes('\r\nMessage-ID: <4711.a@quay.example>\r\n')),
  )
  t.equal(arrived.data.toString().match(/^message-id:/gim)?.length, 1)
  const bare = await send({ headers: { 'Message-ID': ' 4712.a@quay.example' } })
  t.equal(bare.headers['ignored-parameters'], undefined)
  await until('the message whose id was given without brackets', () =>
    sink.messages.find(({ data }) => data.includes('\r\nMessage-ID: <4712.a@quay.example>\r\n')),
  )
  for (const wrong of ['4711', '<a b@quay.example>', '<a@b', '<a@ü.example>', `<${'a'.repeat(1000)}@b>`]) {
    const own = await send(toLena({ headers: { 'Message-ID': wrong } }))
    t.match(own, { status: 202, headers: { 'ignored-parameters': '"personalizations.0.headers.Message-ID"' } }, wrong)
    const shared = await send({ headers: { 'message-id': wrong } })
    t.match(shared, { status: 202, headers: { 'ignored-parameters': '"headers.message-id"' } }, wrong)
  }
})

t.test('categories become tags of the message, and settings are stored with it', async (t) => {
  proves(t, 'categories', 'asm.group_id', 'asm.groups_to_display', 'tracking', 'ip_pool_name')
  const answer = await send({
    categories: ['receipts', 'eu'],
    asm: { group_id: 311, groups_to_display: [311, 312] },
    ip_pool_name: 'transactional',
    tracking_settings: { click_tracking: { enable: false, enable_text: false }, open_tracking: { enable: true } },
  })
  t.match(await story(answer), {
    tags: ['receipts', 'eu'],
    settings: { group: 311, groupsToDisplay: [311, 312], openTracking: true },
  })
  t.notHas((await story(answer)).settings, { clickTracking: true }, 'what is off is not kept')
  t.strictSame((await story(await send({ asm: { group_id: 311, groups_to_display: [] } }))).settings, {
    group: 311,
    groupLink: true,
    unsubscribe: true,
  })
})

t.test('a recipient who left the group of a message does not get it', async (t) => {
  proves(t, 'asm.group_id')
  await service.core.suppressions.addAll({ accountId: sender.accountId, group: 12, emails: ['gone@harbor.example'] })
  const answer = await send({ asm: { group_id: 12 }, ...toLena({ to: [{ email: 'gone@harbor.example' }] }) })
  t.equal(answer.status, 202)
  t.equal((await story(answer)).deliveries[0]?.state, 'dropped')
  const other = await send({ asm: { group_id: 13 }, ...toLena({ to: [{ email: 'gone@harbor.example' }] }) })
  t.equal((await copies(other)).length, 1)
})

t.test('send_at delays the message until that time; a past time does not delay it', async (t) => {
  proves(t, 'send_at')
  const now = Math.floor(Date.now() / 1000)
  const later = await send({ send_at: now + 3600 })
  t.match(await story(later), { scheduledAt: new Date((now + 3600) * 1000), deliveries: [{ state: 'scheduled' }] })
  for (const past of [now - 60, 0, -5]) {
    t.equal((await story(await send({ send_at: past }))).scheduledAt, null, String(past))
  }
  const own = await send({ subject: undefined, ...toLena({ send_at: now + 7200, subject: 'Hers' }) })
  t.match(
    await story(own),
    { subject: 'Hers', scheduledAt: new Date((now + 7200) * 1000) },
    'what is the only one’s is the mail’s',
  )
})

t.test('sandbox_mode validates the message and returns 200; nothing is stored, charged or sent', async (t) => {
  proves(t, 'sandbox_mode')
  const counted = await service.makeSender()
  await service.core.credits.limit(counted.accountId, 1000)
  const left = async () => {
    const { accountId } = counted
    const [stored] = await sql`select count(*)::int as count from messages where account_id = ${accountId}`
    const [credit] = await sql`select balance::int from credit_balances where account_id = ${accountId}`
    return [stored?.count, credit?.balance]
  }
  const sandboxed = (enable: boolean, extra: Fields = {}) => {
    const body = mailBody(counted, { mail_settings: { sandbox_mode: { enable } }, ...extra })
    return ask(base, { path: '/mail/send', key: counted.apiKey, body })
  }
  t.match(await sandboxed(true), { status: 200, text: '', headers: { 'content-length': '0' } }, 'P3')
  t.strictSame(await left(), [0, 1000])
  refusedV3(t, await sandboxed(true, { from: { email: 'desk@nobody.example' } }), [403, /verified Sender/, 'from'])
  t.equal((await sandboxed(true, { content: [] })).status, 400)
  t.equal((await sandboxed(false)).status, 202)
  t.strictSame(await left(), [1, 999])
})

t.test('without credit 401 says so, as clients of v3 expect it', async (t) => {
  const poor = await service.makeSender()
  await service.core.credits.limit(poor.accountId, 0)
  const answer = await ask(base, { path: '/mail/send', key: poor.apiKey, body: mailBody(poor) })
  refusedV3(t, answer, [401, 'Maximum credits exceeded'])
})

t.test('an expired account and one that is suspended may not send', async (t) => {
  const late = await service.makeSender()
  await service.sql`update accounts set expires_at = now() - interval '1 day' where id = ${late.accountId}`
  const expired = await ask(base, { path: '/mail/send', key: late.apiKey, body: mailBody(late) })
  refusedV3(t, expired, [401, 'Account has expired'])
})

t.test('unknown and retired fields are ignored at every level', async (t) => {
  proves(t, 'unknown-keys', 'unique_args', 'mail_settings.bcc', 'spam_check')
  const answer = await send({
    unique_args: { a: 'b' },
    email: 'x',
    contentId: 5,
    personalizations: [{ to: [{ email: 'lena@harbor.example', id: 5 }], cc: null, extra: {} }],
    attachments: [
      { content: 'aGVsbG8=', filename: 'a.txt', content_type: 'text/x', id: 'f', contentId: 'c', type: null },
    ],
    mail_settings: {
      bcc: { enable: true, email: 'spy@quay.example' },
      nothing: 5,
      spam_check: { enable: true, threshold: 3, post_to_url: 'https://quay.example/spam' },
    },
    tracking_settings: { nothing: 5, click_tracking: null },
    template_id: null,
    reply_to: null,
  })
  t.equal((await copies(answer)).length, 1)
  t.equal((await story(answer)).deliveries.length, 1, 'no copy to the bcc of the settings')
  for (const retired of [
    { enable: true },
    { enable: 'yes', email: 5, threshold: 99, post_to_url: 'ftp://quay.example' },
    null,
    'x',
    [],
    5,
    true,
  ]) {
    const settings = { mail_settings: { bcc: retired, spam_check: retired } }
    t.equal((await send(settings)).status, 202, `whatever is in them: ${JSON.stringify(retired)}`)
  }
})

t.test('one Idempotency-Key creates one message across v3 and v2', async (t) => {
  proves(t, 'idempotency-key')
  const once = { 'idempotency-key': 'order-1' }
  const first = await send({}, once)
  const [again, same] = [await send({}, once), await send({}, once)]
  t.strictSame([again.status, messageIdOf(again)], [202, messageIdOf(first)])
  t.equal(same.headers['idempotent-replayed'], 'true')
  t.equal(first.headers['idempotent-replayed'], undefined)
  refusedV3(t, await send({ subject: 'Another' }, once), [409, /already used/])
  const v2 = await sendV2(base, key, v2Body(sender), once)
  t.equal(v2.status, 409, 'v2 finds the key used')
  await sendV2(base, key, v2Body(sender), { 'idempotency-key': 'order-2' })
  refusedV3(t, await send({}, { 'idempotency-key': 'order-2' }), [409, /already used/])
  const parallel = await Promise.all(Array.from({ length: 20 }, () => send({}, { 'idempotency-key': 'order-3' })))
  t.equal(new Set(parallel.map(messageIdOf)).size, 1)
  refusedV3(t, await send({}, { 'idempotency-key': 'ä'.repeat(3) }), [400, /printable ASCII/, 'Idempotency-Key'])
})
