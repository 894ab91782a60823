import type { MessageWhy } from '@postrider/core'
import t from 'tap'
import { DEFERRED, makeQueue, recipients } from '../core/delivery/queue-of.ts'
import { parkedAt } from '../helpers/claim.ts'
import { answered, postrider } from './postrider.ts'

t.test('message why explains each delivery, of one message of any account', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  const { env } = service
  const id = await accept(recipients(3))
  const short = id.replaceAll('-', '')
  t.match((await postrider(env, 'message', 'why', id)).stdout, /^0: No delivery worker is running\./m)

  const workerId = await register()
  const [first, second, third] = (await claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  if (!first || !second || !third) throw new Error('not claimed')
  await core.deliveries.record([{ ...first, workerId, outcome: DEFERRED }])
  await core.deliveries.park(workerId, parkedAt([second], { place: 'yahoo', waitingFor: 'connections' }))
  const pause = { place: 'yahoo', accountId: null, setting: 'pause', value: null, seconds: null } as const
  await core.deliveries.limits.set({ ...pause, rule: 'yahoo-tss04', lasts: 600, reason: '421 [TSS04] later' })

  const { stdout } = await postrider(env, 'message', 'why', id)
  t.match(
    stdout,
    new RegExp(`^message ${short}, accepted 20.*Z\n\nno  recipient +state +waiting for +next try +expected`),
  )
  t.match(stdout, /^0 +r0@harbor\.example +deferred +retry +20.*Z +20.*Z +20.*Z$/m)
  t.match(stdout, /^1 +r1@harbor\.example +queued +provider-pause +20.*Z +20.*Z +0 +20.*Z$/m)
  t.match(stdout, /^2 +r2@harbor\.example +sending +moment +20.*Z$/m)
  t.match(stdout, /^0: mx1\.harbor\.example rejected it temporarily .* \(expected: next attempt\)$/m)
  t.match(
    stdout,
    /^1: .*paused until .* UTC\. Reply: 421 \[TSS04\] later \(expected: end of the pause\)$/m,
    'the operator sees the reply',
  )
  t.match(stdout, /^2: A worker is trying to deliver it\.$/m)

  const why = await answered<MessageWhy>(env, 'message', 'why', short)
  t.match(why, { id: short, total: 3, deliveries: [{ waitingFor: 'retry' }, { waitingFor: 'provider-pause' }, {}] })
  for (const one of [
    ['--recipient', 'R1@Harbor.Example'],
    ['--trid', String(why.deliveries[1]?.transactionNumber)],
  ]) {
    t.match(await answered<MessageWhy>(env, 'message', 'why', id, ...one), {
      total: 1,
      deliveries: [{ recipientNo: 1 }],
    })
  }
})

t.test('message why shows the first 100 deliveries, and the number of the others', async (t) => {
  const { service, accept } = await makeQueue(t)
  const id = await accept(recipients(103))
  const { stdout } = await postrider(service.env, 'message', 'why', id)
  t.match(stdout, /^99 +r99@/m)
  t.notMatch(stdout, /r100@/)
  t.match(stdout, /\n3 more deliveries; --recipient or --trid selects one\n$/)
  t.match(
    (await postrider(service.env, 'message', 'why', id, '--recipient', 'r102@harbor.example')).stdout,
    /^102 +r102@/m,
  )
  t.equal((await answered<MessageWhy>(service.env, 'message', 'why', id)).total, 103)
})

t.test('message why reports an unknown message, recipient and delivery', async (t) => {
  const { service, accept } = await makeQueue(t)
  const id = await accept(['lena@harbor.example'])
  for (const [args, said] of [
    [['0'.repeat(32)], /message "0+" not found; the id is in/],
    [[id, '--recipient', 'mara@harbor.example'], /message [0-9a-f]{32} has no recipient mara@harbor\.example/],
    [[id, '--trid', '17676078720000004'], /message \S+ has no delivery 17676078720000004/],
  ] as const) {
    const { code, stderr } = await postrider(service.env, 'message', 'why', ...args)
    t.equal(code, 1)
    t.match(stderr, said)
  }
})
