import { randomUUIDv7 } from 'node:crypto'
import type { ClaimedDelivery, Outcome, Result } from '@postrider/core'
import t from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

/** A worker that claims what is due and says what became of it. */
async function makeWorker({ core }: TestService) {
  const { workerId } = await registerWorker(t, core, 'mx.test')
  const result = (
    { messageId, recipientNo, attempt }: ClaimedDelivery,
    kind: 'delivered' | 'deferred',
    text = 'so it is',
  ): Result => {
    const reply = { code: kind === 'delivered' ? 250 : 451, enhanced: '', text }
    const tried = { stage: 'dot', host: 'mx1.harbor.example', reply, steps: [], milliseconds: 5 } as const
    const outcome: Outcome = kind === 'delivered' ? { kind, ...tried } : { kind, indeterminate: false, ...tried }
    return { messageId, recipientNo, attempt, workerId, outcome }
  }
  return { claim: () => claimDue(core, { workerId, limit: 1000 }), result }
}

t.test('show returns undefined for an invalid id, and for an unknown one', async (t) => {
  const { core } = await makeService(t)
  for (const id of ['', 'x', '../..', "'; drop table messages", 'g'.repeat(32), '0'.repeat(31), '0'.repeat(33)]) {
    t.equal(await core.messages.show(id), undefined, id)
  }
  for (const id of ['0'.repeat(32), 'f'.repeat(32), randomUUIDv7()]) {
    t.equal(await core.messages.show(id), undefined, id)
  }
})

t.test('show answers a message under its id, with or without hyphens, in either case', async (t) => {
  const service = await makeService(t)
  const { messageId } = await acceptMessage(service, await service.makeSender())
  const hyphened = messageId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  for (const spelling of [messageId, hyphened, hyphened.toUpperCase()]) {
    t.equal((await service.core.messages.show(spelling))?.id, messageId)
  }
})

t.test('show returns what was accepted, one delivery for each recipient in order', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const add = { accountId: sender.accountId, scope: 'address', value: 'gone@harbor.example', reason: 'manual' } as const
  await service.core.suppressions.add(add)
  const { messageId } = await acceptMessage(service, sender, {
    tags: ['berths', 'july'],
    envelopes: [
      envelopeTo('lena@harbor.example', { cc: ['piet@quay.example'], bcc: ['log@ship.example'], reference: 'order 7' }),
      envelopeTo('gone@harbor.example'),
    ],
  })
  const story = await service.core.messages.show(messageId)
  t.match(story, {
    id: messageId,
    accountId: sender.accountId,
    door: 'v2',
    from: `desk@${sender.domain}`,
    subject: 'Berth 4',
    tags: ['berths', 'july'],
    scheduledAt: null,
  })
  t.ok((story?.size ?? 0) > 0)
  t.ok(Math.abs((story?.acceptedAt.getTime() ?? 0) - Date.now()) < 60_000)
  const deliveries = story?.deliveries ?? []
  t.strictSame(
    deliveries.map(({ recipientNo, recipient, kind, state, attempts }) => [
      recipientNo,
      recipient,
      kind,
      state,
      attempts,
    ]),
    [
      [0, 'lena@harbor.example', 'to', 'queued', []],
      [1, 'piet@quay.example', 'cc', 'queued', []],
      [2, 'log@ship.example', 'bcc', 'queued', []],
      [3, 'gone@harbor.example', 'to', 'dropped', []],
    ],
  )
  t.equal(deliveries[0]?.reference, 'order 7')
  const numbers = deliveries.map(({ transactionNumber }) => BigInt(transactionNumber))
  t.strictSame(
    numbers.map((number) => number - (numbers[0] as bigint)),
    [0n, 4n, 8n, 12n],
  )
  t.ok(story?.events.some(({ type, recipientNo }) => type === 'dropped' && recipientNo === 3))
})

t.test('show tells a message for later as scheduled, with its time', async (t) => {
  const service = await makeService(t)
  const scheduledAt = new Date(Date.now() + 3_600_000)
  const { messageId } = await acceptMessage(service, await service.makeSender(), { scheduledAt })
  t.match(await service.core.messages.show(messageId), {
    scheduledAt,
    deliveries: [{ state: 'scheduled', nextAt: scheduledAt }],
  })
})

t.test('show tells attempts by delivery in order, and events in the order they happened', async (t) => {
  const service = await makeService(t)
  const envelopes = ['lena@harbor.example', 'mina@harbor.example'].map((to) => envelopeTo(to))
  const { messageId } = await acceptMessage(service, await service.makeSender(), { envelopes })
  const { claim, result } = await makeWorker(service)
  const first = [...(await claim())].sort((a, b) => a.recipientNo - b.recipientNo)
  await service.core.deliveries.record([
    result(first[0] as ClaimedDelivery, 'deferred', 'not now'),
    result(first[1] as ClaimedDelivery, 'delivered'),
  ])
  await moveClock(service.sql, '10 minutes')
  const [again] = await claim()
  await service.core.deliveries.record([result(again as ClaimedDelivery, 'delivered', 'now')])

  const story = await service.core.messages.show(messageId)
  t.strictSame(
    story?.deliveries.map(({ state, attempts }) => [state, attempts.map(({ attempt, outcome }) => [attempt, outcome])]),
    [
      [
        'delivered',
        [
          [1, 'deferred'],
          [2, 'delivered'],
        ],
      ],
      ['delivered', [[1, 'delivered']]],
    ],
  )
  t.match(story?.deliveries[0]?.attempts[0], { host: 'mx1.harbor.example', code: 451, reply: 'not now', stage: 'dot' })
  const times = story?.events.map(({ occurredAt }) => occurredAt.getTime()) ?? []
  t.strictSame(times, times.toSorted())
  t.strictSame(story?.events.map(({ type }) => type).toSorted(), ['deferred', 'processed', 'processed', 'sent', 'sent'])
  t.match(story?.events.at(-1), { type: 'sent', recipientNo: 0 })
})

t.test('show tells one moment: a delivery that is delivered has the attempt and the event that say so', async (t) => {
  const service = await makeService(t)
  const envelopes = Array.from({ length: 150 }, (_none, at) => envelopeTo(`lena${at}@harbor.example`))
  const { messageId } = await acceptMessage(service, await service.makeSender(), { envelopes })
  const { claim, result } = await makeWorker(service)
  let recording = true
  const recorded = (async () => {
    for (const delivery of await claim()) await service.core.deliveries.record([result(delivery, 'delivered')])
    recording = false
  })()
  let looks = 0
  const torn: unknown[] = []
  while (recording) {
    const story = await service.core.messages.show(messageId)
    looks++
    for (const { recipientNo, state, attempts } of story?.deliveries ?? []) {
      const sent = story?.events.some((event) => event.type === 'sent' && event.recipientNo === recipientNo)
      const finished = state === 'delivered'
      if (attempts.length !== Number(finished) || sent !== finished) torn.push({ recipientNo, state, sent })
    }
  }
  await recorded
  t.ok(looks > 0)
  t.strictSame(torn, [])
})
