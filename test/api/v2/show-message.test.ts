import t from 'tap'
import { BOUNCED, DEFERRED, DELIVERED, makeQueue, recipients } from '../../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { call } from '../call.ts'

interface Shown {
  readonly deliveries: readonly Record<string, unknown>[]
  readonly events: readonly { readonly type: string; readonly recipientNo: number; readonly detail: unknown }[]
  readonly nextRecipient: number | null
}

async function makeShow(t: Parameters<typeof makeQueue>[0]) {
  const queue = await makeQueue(t)
  const url = await queue.service.openApi()
  const { apiKey } = queue.sender
  const show = async (id: string, query = ''): Promise<Shown> => {
    const path = `/v2/messages/${id}${query}`
    const { status, json, text } = await call(url, { method: 'GET', path, headers: { api_key: apiKey } })
    if (status !== 200) throw new Error(text)
    return json?.data as Shown
  }
  return { ...queue, url, show }
}

t.test('a message is shown with what each delivery waits for, its attempts step by step and its events', async (t) => {
  const { service, core, sender, register, claimAll, show } = await makeShow(t)
  const envelopes = ['a', 'b', 'c', 'd'].map((name) =>
    envelopeTo(`${name}@harbor.example`, { reference: `ref-${name}` }),
  )
  const { messageId } = await acceptMessage(service, sender, { envelopes, tags: ['x'] })
  const workerId = await register()
  const steps = [{ step: 'rcpt', ms: 12, code: 451, enhanced: '4.7.1', text: 'greylisted' }]
  const outcomes = [DELIVERED, BOUNCED, { ...DEFERRED, steps }]
  await core.deliveries.record(
    (await claimAll(workerId)).flatMap((one) => {
      const outcome = outcomes[one.recipientNo]
      return outcome ? [{ ...one, workerId, outcome }] : []
    }),
  )
  const shown = await show(messageId)
  t.match(shown, {
    messageId: messageId.replaceAll('-', ''),
    door: 'v2',
    subject: 'Berth 4',
    tags: ['x'],
    recipients: 4,
    fromaddress: `desk@${sender.domain}`,
    keyId: Number,
    clientAddress: '127.0.0.1',
    bodyStored: true,
    scheduledAt: null,
    hasAttachment: false,
    nextRecipient: null,
    moreEvents: false,
    returns: [],
    acceptedAt: /^20.*Z$/,
    deliveries: [
      { recipient: 'a@harbor.example', xapiheader: 'ref-a', state: 'delivered', waitingFor: null, finishedAt: /Z$/ },
      { state: 'bounced', text: /550 5\.1\.1 no such user here/ },
      {
        state: 'deferred',
        waitingFor: 'retry',
        nextAt: /Z$/,
        deadline: /Z$/,
        finishedAt: null,
        text: /^mx1\.harbor\.example rejected it temporarily \(451 4\.7\.1 greylisted\)/,
        attempts: [
          { attempt: 1, outcome: 'deferred', ms: 7, address: '192.0.2.1', code: 451, conversation: steps, time: /Z$/ },
        ],
      },
      { state: 'sending', waitingFor: String, attempts: [] },
    ],
  })
  t.strictSame(shown.events.map(({ type, recipientNo }) => `${type} ${recipientNo}`).sort(), [
    'bounced 1',
    'deferred 2',
    'processed 0',
    'processed 1',
    'processed 2',
    'processed 3',
    'sent 0',
  ])
  t.match(shown.events.find(({ type }) => type === 'bounced')?.detail, { code: 550, reply: 'no such user here' })
  t.match(shown, { suppressions: [{ value: 'b@harbor.example', recipientNo: 1, group: 0 }] }, 'and what it caused')
})

t.test('a message with many recipients is shown a hundred at a time, each page with its own events', async (t) => {
  const { accept, show } = await makeShow(t)
  const id = await accept(recipients(250))
  const seen: unknown[] = []
  let pages = 0
  for (let next: number | null = 0; next !== null; pages++) {
    const shown: Shown = await show(id, `?from_recipient=${next}`)
    t.equal(shown.events.length, shown.deliveries.length)
    seen.push(...shown.deliveries.map(({ recipientNo }) => recipientNo))
    next = shown.nextRecipient
  }
  t.equal(pages, 3)
  t.strictSame(
    seen,
    Array.from({ length: 250 }, (_, at) => at),
  )
  t.match(await show(id, '?from_recipient=99999999999'), { deliveries: [], nextRecipient: null, recipients: 250 })
})

t.test('a message without its body is distinguished from an unknown one', async (t) => {
  const { service, accept, show } = await makeShow(t)
  const id = await accept(['a@harbor.example'])
  await service.sql`delete from bodies`
  t.match(await show(id), { bodyStored: false })
  await t.rejects(show('0'.repeat(32)), /404|"error_code":165/)
  await t.rejects(show('x'), /"error_message":"Message not found"/)
})
