import t from 'tap'
import { BOUNCED, DEFERRED, DELIVERED, INDETERMINATE, makeQueue, recipients } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { type CallAnswer, call, errorText } from '../call.ts'

const dataOf = ({ json, text }: CallAnswer) => {
  if (!json?.data) throw new Error(text)
  return json.data as { messageId: string }
}

async function makeActions(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const { core, register, claimAll } = queue
  const url = await queue.service.openApi()
  const act = (path: string, by = queue.sender) =>
    call(url, { path: `/v2/messages/${path}`, headers: { api_key: by.apiKey }, body: {} })
  const record = async (outcomes: readonly (typeof DELIVERED)[]): Promise<void> => {
    const workerId = await register()
    await core.deliveries.record(
      (await claimAll(workerId)).flatMap((one) => {
        const outcome = outcomes[one.recipientNo]
        return outcome ? [{ ...one, workerId, outcome }] : []
      }),
    )
  }
  const states = async (id: string) => (await core.messages.show(id))?.deliveries.map(({ state }) => state)
  return { ...queue, url, act, record, states }
}

t.test('tryNow makes deferred deliveries due, a minute after their last attempt at the earliest', async (t) => {
  const { service, accept, act, record, core } = await makeActions(t)
  const { sql } = service
  const id = await accept(recipients(5))
  await record([DEFERRED, DELIVERED, INDETERMINATE, DEFERRED] as never)
  const due = async () =>
    (await core.messages.show(id))?.deliveries.flatMap(({ recipientNo, state, nextAt }) =>
      state === 'deferred' && nextAt && nextAt.getTime() <= Date.now() + 1000 ? [recipientNo] : [],
    )
  t.match((await act(`${id}/try-now`)).json?.data, { due: 0, notYet: 3, others: 2 }, 'tried just before')
  t.strictSame(await due(), [])
  await sql`update attempts set started_at = started_at - interval '2 minutes'`
  // Parked, and held by the operator: both keep waiting.
  await sql`update delivery_queue set waiting_for = 'hold' where recipient_no = 3`
  const answer = await act(`${id}/try-now`)
  t.match(answer.json?.data, { messageId: id.replaceAll('-', ''), due: 1, notYet: 2, others: 2 })
  t.strictSame(await due(), [0], 'not one whose copy the server may have, nor one that is held')
  t.match((await act(`${id}/try-now`)).json?.data, { due: 0 }, 'once')
  await sql`update delivery_queue set waiting_for = 'rate', place = 'yahoo', next_at = service_now() + interval '1 hour' where recipient_no = 3`
  t.match(
    (await act(`${id}/try-now`)).json?.data,
    { due: 0, notYet: 3 },
    'what waits at its destination keeps its turn',
  )
  t.equal((await act(`${'0'.repeat(32)}/try-now`)).status, 404)
})

t.test('cancelMessage drops what waits and leaves what is being sent', async (t) => {
  const { service, sender, accept, act, register, claimAll, states } = await makeActions(t)
  const id = await accept(recipients(3))
  await register()
  const later = await accept(['a@harbor.example'], new Date(Date.now() + 3_600_000))
  t.match((await act(`${later}/cancel`)).json?.data, {
    messageId: later.replaceAll('-', ''),
    cancelled: 1,
    inFlight: 0,
    final: 0,
  })
  await service.sql`update delivery_queue set next_at = next_at + interval '1 hour' where recipient_no > 0`
  await claimAll(await register())
  t.match((await act(`${id}/cancel`)).json?.data, { cancelled: 2, inFlight: 1, final: 0 })
  t.strictSame(await states(id), ['sending', 'dropped', 'dropped'])
  const [event] = await service.sql<{ detail: unknown }[]>`
    select detail from events where type = 'dropped' and account_id = ${sender.accountId}`
  t.strictSame(event?.detail, { reason: 'cancelled' })
  t.match((await act(`${id}/cancel`)).json?.data, { cancelled: 0, inFlight: 1, final: 2 })
})

t.test('resend sends a message again as a new one, and each names the other', async (t) => {
  const { service, core, sender, url, record, states } = await makeActions(t)
  const post = (
    id: string,
    body: Record<string, unknown>,
    headers: Record<string, string> = {},
    apiKey = sender.apiKey,
  ) => call(url, { path: `/v2/messages/${id}/resend`, headers: { api_key: apiKey, ...headers }, body })
  const show = async (id: string) =>
    (await call(url, { method: 'GET', path: `/v2/messages/${id}`, headers: { api_key: sender.apiKey } })).json
      ?.data as Record<string, unknown>
  const source = async (id: string, no = 0) =>
    (await core.messages.source({ accountId: sender.accountId, messageId: id, recipientNo: no })).toString()
  const { messageId } = await acceptMessage(service, sender, {
    content: { kind: 'parts', html: '<p>Dear [%NAME%]</p>', text: undefined, amp: undefined },
    tags: ['x'],
    settings: { openTracking: true },
    attachments: [{ fileName: 'a.txt', content: Buffer.from('the file') }],
    envelopes: ['a', 'b', 'c'].map((name) =>
      envelopeTo(`${name}@harbor.example`, { reference: `ref-${name}`, attributes: { NAME: name.toUpperCase() } }),
    ),
  })
  await record([DELIVERED, BOUNCED] as never)
  const answer = await post(messageId, { recipients: [0, 2] })
  const { messageId: again } = dataOf(answer)
  t.match(answer.json?.data, { messageId: /^[0-9a-f]{32}$/, resentFrom: messageId.replaceAll('-', '') })
  t.match(await show(again), {
    subject: 'Berth 4',
    tags: ['x'],
    recipients: 2,
    resentFrom: messageId.replaceAll('-', ''),
    resentAs: [],
    hasAttachment: true,
    deliveries: [
      { recipient: 'a@harbor.example', xapiheader: 'ref-a', state: 'queued' },
      { recipient: 'c@harbor.example', xapiheader: 'ref-c', state: 'queued' },
    ],
  })
  t.match(await show(messageId), { resentFrom: null, resentAs: [again] })
  const stable = (text: string) => {
    const boundaries = [...text.matchAll(/boundary="?([^";\r\n]+)/g)].map(([, boundary = '']) => boundary)
    const alike = boundaries.reduce((sum, boundary) => sum.replaceAll(boundary, 'boundary'), text)
    return alike.replace(/^(?:Date|Message-ID|X-[^:]*|List-[^:]*|Feedback-ID): .*(?:\r\n .*)*\r\n/gim, '')
  }
  t.equal(stable(await source(again, 1)), stable(await source(messageId, 2)), 'the same copy for the same recipient')
  t.not(
    /^Message-ID: (.*)$/im.exec(await source(again))?.[1],
    /^Message-ID: (.*)$/im.exec(await source(messageId))?.[1],
  )

  const whole = await post(messageId, {})
  const { messageId: all } = dataOf(whole)
  t.strictSame(await states(all), ['queued', 'dropped', 'queued'], 'who bounced is suppressed by now')

  const key = { 'idempotency-key': 'again-1' }
  const first = await post(messageId, { recipients: [2] }, key)
  t.strictSame((await post(messageId, { recipients: [2] }, key)).json, first.json, 'a repeated call sends nothing')
  t.equal((await post(messageId, { recipients: [0] }, key)).status, 409)
  const [{ count } = { count: 0 }] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from messages where account_id = ${sender.accountId}`
  t.equal(count, 4)

  t.match(
    errorText(await post(messageId, { recipients: [3] })),
    /^Parameter \[recipients\] is invalid: must be numbers of/,
  )
  const limited = await core.auth.createKey({
    accountId: sender.accountId,
    scopes: ['send'] as const,
    restrictions: { recipientDomains: ['other.example'] },
  })
  t.equal((await post(messageId, {}, {}, limited.secret)).status, 403, 'the rules of accept apply')
  await core.credits.limit(sender.accountId, 1)
  t.equal((await post(messageId, { recipients: [0, 2] })).status, 402, 'and credits')
  await service.sql`delete from bodies`
  t.equal((await post(messageId, {})).status, 410)
})

t.test('a message submitted by SMTP is sent again byte for byte, with a Date and Message-ID of its own', async (t) => {
  const { service, core, sender, url } = await makeActions(t)
  const head = `Received: from old.example\r\n by older.example\r\nFrom: desk@${sender.domain}\r\nDate: Mon, 05 Jan 2026 10:11:12 +0000\r\nMessage-ID:\r\n <old@ship.example>\r\nSubject: Berth 4\r\n`
  const { messageId } = await acceptMessage(service, sender, {
    door: 'smtp',
    content: {
      kind: 'mime',
      lacksDate: false,
      lacksMessageId: false,
      nullReturnPath: false,
      pieces: [Buffer.from(`${head}\r\nDate: in the body\r\n`)],
      trace: { helo: 'client.example', address: '192.0.2.7', protocol: 'ESMTPSA' },
    },
  })
  const answer = await call(url, {
    path: `/v2/messages/${messageId}/resend`,
    headers: { api_key: sender.apiKey },
    body: {},
  })
  const again = dataOf(answer).messageId
  const source = (await core.messages.source({ accountId: sender.accountId, messageId: again })).toString()
  t.match(
    source,
    new RegExp(
      `^Received: by [^]*\\r\\nDate: .*\\r\\nMessage-ID: <${again}@${sender.domain}>\\r\\nReceived: from old\\.example\\r\\n by older`,
    ),
  )
  t.notMatch(source, /old@ship|client\.example|05 Jan/)
  t.ok(source.endsWith('Subject: Berth 4\r\n\r\nDate: in the body\r\n'))
  t.match(await core.messages.show(again), { door: 'smtp', recipients: 1, resentFrom: messageId })
})

t.test('showKey says what any key may do', async (t) => {
  const { service, sender, url } = await makeActions(t)
  const { secret, key } = await service.core.auth.createKey({
    accountId: sender.accountId,
    scopes: ['templates', 'stats'] as const,
    restrictions: { recipientsPerHour: 5 },
  })
  const { json } = await call(url, { method: 'GET', path: '/v2/key', headers: { api_key: secret } })
  t.match(json?.data, {
    id: key.id,
    scopes: ['templates', 'stats'],
    restrictions: { recipients_per_hour: 5 },
    account: { id: sender.accountId, state: 'active', maySend: true, parent: null },
  })
  t.strictSame((json?.data as { allowed: string[] } | undefined)?.allowed, ['templates', 'stats', 'templates.read'])
})
