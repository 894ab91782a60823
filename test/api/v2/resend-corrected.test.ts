import t from 'tap'
import { BOUNCED, makeQueue } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { call, errorText } from '../call.ts'

async function makeResends(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const { core, sender, service } = queue
  const url = await service.openApi()
  const resend = async (id: string, body: Record<string, unknown>, apiKey = sender.apiKey, headers = {}) => {
    const answer = await call(url, {
      path: `/v2/messages/${id}/resend`,
      headers: { api_key: apiKey, ...headers },
      body,
    })
    return { ...answer, id: (answer.json?.data as { messageId: string } | undefined)?.messageId ?? '' }
  }
  const count = async () => (await service.sql`select from messages where account_id = ${sender.accountId}`).length
  const source = async (id: string, no = 0) =>
    (await core.messages.source({ accountId: sender.accountId, messageId: id, recipientNo: no })).toString()
  const deliveries = async (id: string) =>
    (await core.messages.show(id))?.deliveries.map(({ recipient, state, kind, reference }) => [
      recipient,
      state,
      kind,
      reference,
    ])
  return { ...queue, url, resend, count, source, deliveries }
}

t.test('a message is sent again to a corrected address, as a copy that names the original', async (t) => {
  const { core, service, sender, resend, source, deliveries, register, claimAll } = await makeResends(t)
  const { messageId } = await acceptMessage(service, sender, {
    content: { kind: 'parts', html: '<p>Dear [%NAME%]</p>', text: undefined, amp: undefined },
    tags: ['x'],
    envelopes: [
      envelopeTo('other@harbor.example'),
      {
        ...envelopeTo('lena@habror.example', { reference: 'ref-1', attributes: { NAME: 'Lena' } }),
        cc: ['mia@souq.example'],
        names: new Map([['lena@habror.example', 'Lena K.']]),
      },
    ],
  })
  const workerId = await register()
  await core.deliveries.record((await claimAll(workerId)).map((one) => ({ ...one, workerId, outcome: BOUNCED })))
  const again = await resend(messageId, { recipients: [1], to: ' Lena@harbor.example ' })
  t.match(again.json?.data, { resentFrom: messageId.replaceAll('-', '') })
  t.strictSame(await deliveries(again.id), [['Lena@harbor.example', 'queued', 'to', 'ref-1']])
  t.match(await core.messages.show(again.id), { resentFrom: messageId.replaceAll('-', ''), tags: ['x'] })
  t.match(await core.messages.show(messageId), { resentAs: [again.id] })
  const copy = await source(again.id)
  t.match(copy, /^To: (?:"Lena K\."|Lena K\.) <Lena@harbor\.example>\r$/m)
  t.match(copy, /^Cc: mia@souq\.example\r$/m, 'the others of the header stay')
  t.match(copy, 'Dear Lena')
  t.notMatch(copy, 'habror')
})

t.test('a list that many recipients see has the corrected address in its place', async (t) => {
  const { service, sender, resend, source } = await makeResends(t)
  const cc = Array.from({ length: 60 }, (_, at) => `r${at}.longer-name@habror.example`)
  const { messageId } = await acceptMessage(service, sender, {
    content: { kind: 'parts', html: undefined, text: 'x', amp: undefined },
    envelopes: [{ ...envelopeTo('lena@harbor.example'), cc, names: new Map(cc.map((one, at) => [one, `Name ${at}`])) }],
  })
  const again = await resend(messageId, { recipients: [60], to: 'right@harbor.example' })
  const copy = (await source(again.id)).replace(/\r\n[ \t]/g, ' ')
  t.match(copy, /, "?Name 58"? <r58\.longer-name@habror\.example>, "?Name 59"? <right@harbor\.example>\r$/m)
  t.notMatch(copy, 'r59.')
})

t.test('a message of SMTP has the corrected address in its header, unless its sender signed it', async (t) => {
  const { service, sender, resend, source } = await makeResends(t)
  const submit = async (head: string) =>
    (
      await acceptMessage(service, sender, {
        door: 'smtp',
        envelopes: [envelopeTo('lena@habror.example')],
        content: {
          kind: 'mime',
          lacksDate: false,
          lacksMessageId: false,
          nullReturnPath: false,
          pieces: [
            Buffer.from(
              `${head}From: desk@${sender.domain}\r\nTo: "L" <Lena@Habror.example>,\r\n b.lena@habror.example, x@y.example\r\n` +
                'Subject: s\r\n\r\nlena@habror.example\r\n',
            ),
          ],
          trace: { helo: 'client.example', address: '192.0.2.7', protocol: 'ESMTPSA' },
        },
      })
    ).messageId
  const plain = await resend(await submit(''), { to: 'lena@harbor.example' })
  const copy = await source(plain.id)
  t.match(
    copy,
    'To: "L" <lena@harbor.example>,\r\n b.lena@habror.example, x@y.example\r\n',
    'and no other address that ends alike',
  )
  t.ok(copy.endsWith('\r\n\r\nlena@habror.example\r\n'), 'the body is the same')
  const signed = await resend(await submit('DKIM-Signature: v=1; d=ship.example; h=To; b=x\r\n'), {
    to: 'lena@harbor.example',
  })
  t.match(await source(signed.id), 'To: "L" <Lena@Habror.example>')
})

t.test('the rules of accept apply to the corrected address', async (t) => {
  const { core, service, sender, resend, count, deliveries } = await makeResends(t)
  const { messageId } = await acceptMessage(service, sender, {})
  await core.suppressions.addAll({ accountId: sender.accountId, emails: ['gone@harbor.example'] })
  const suppressed = await resend(messageId, { to: 'gone@harbor.example' })
  t.strictSame(await deliveries(suppressed.id), [['gone@harbor.example', 'dropped', 'to', null]])
  const { secret } = await core.auth.createKey({
    accountId: sender.accountId,
    scopes: ['send'] as const,
    restrictions: { recipientDomains: ['harbor.example'] },
  })
  const before = await count()
  t.equal((await resend(messageId, { to: 'lena@other.example' }, secret)).status, 403, 'those of the key')
  t.equal((await resend(messageId, { to: 'mia@harbor.example' }, secret)).status, 200)
  await service.sql`update domains set state = 'pending' where account_id = ${sender.accountId}`
  await core.credits.limit(sender.accountId, 0)
  t.not((await resend(messageId, { to: 'mia@harbor.example' })).status, 200, 'credits and the domain')
  t.equal(await count(), before + 1)
})

t.test(
  'what is refused sends nothing: several recipients, no address, and a parameter that does not exist',
  async (t) => {
    const { service, sender, resend, count } = await makeResends(t)
    const { messageId } = await acceptMessage(service, sender, {
      envelopes: ['a', 'b'].map((name) => envelopeTo(`${name}@harbor.example`)),
    })
    const refused = async (body: Record<string, unknown>, problem: RegExp) => {
      const answer = await resend(messageId, body)
      t.equal(answer.status, 400, JSON.stringify(body))
      t.match(errorText(answer), problem)
      t.equal(await count(), 1)
    }
    await refused({ to: 'c@harbor.example' }, /\[recipients\] is invalid: must be the number of one recipient/)
    await refused(
      { recipients: [0, 1], to: 'c@harbor.example' },
      /\[recipients\] is invalid: must be the number of one/,
    )
    await refused({ recipients: [0], to: 'c at harbor' }, /\[to\] is invalid: must be an email address/)
    await refused({ recipients: [0], to: '' }, /\[to\] is invalid: must be an email address/)
    await refused({ recipient: [0] }, /\[recipient\] is invalid: is unknown to this call; did you mean recipients\?/)
    await refused({ Recipients: [0] }, /\[Recipients\] is invalid: is unknown to this call; did you mean recipients\?/)
    await refused(
      { recipients: [0], address: 'c@harbor.example' },
      /\[address\] is invalid: is unknown to this call, which has messageId, recipients, to/,
    )
    const key = { 'idempotency-key': 'k1' }
    const first = await resend(messageId, { recipients: [0], to: 'c@harbor.example' }, sender.apiKey, key)
    t.equal((await resend(messageId, { recipients: [0], to: 'c@harbor.example' }, sender.apiKey, key)).id, first.id)
    t.equal((await resend(messageId, { recipients: [0], to: 'd@harbor.example' }, sender.apiKey, key)).status, 409)
  },
)

t.test('the delivery of one recipient is cancelled, and no other', async (t) => {
  const { core, sender, service, url } = await makeResends(t)
  const { messageId } = await acceptMessage(service, sender, {
    envelopes: ['a', 'b', 'c'].map((name) => envelopeTo(`${name}@harbor.example`)),
  })
  const cancel = (body: Record<string, unknown>) =>
    call(url, { path: `/v2/messages/${messageId}/cancel`, headers: { api_key: sender.apiKey }, body })
  const states = async () => (await core.messages.show(messageId))?.deliveries.map(({ state }) => state)
  t.match(errorText(await cancel({ recipient: [1] })), /did you mean recipients\?/)
  t.match(errorText(await cancel({ recipients: [1, 3] })), /\[recipients\] is invalid: must be numbers of recipients/)
  t.strictSame(await states(), ['queued', 'queued', 'queued'])
  t.match((await cancel({ recipients: [1] })).json?.data, { cancelled: 1, inFlight: 0, final: 0 })
  t.strictSame(await states(), ['queued', 'dropped', 'queued'])
  t.match((await cancel({ recipients: [1] })).json?.data, { cancelled: 0, inFlight: 0, final: 1 })
  const [entry] = await service.sql<{ after: unknown }[]>`select after from audit_log where action = 'message.cancel'`
  t.strictSame(entry?.after, { cancelled: 1, recipients: [1] })
})
