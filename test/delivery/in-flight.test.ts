import { type ClaimedDelivery, type LoadedMessage, NORMAL } from '@postrider/core'
import t from 'tap'
import { InFlightDeliveries, MAX_IN_FLIGHT } from '../../packages/delivery/src/destinations/in-flight.ts'

const deliveryOf = (accountId: number, recipientNo: number) =>
  ({ messageId: 'm', recipientNo, attempt: 1, accountId, class: NORMAL }) as ClaimedDelivery
const flow = (accountId: number) => ({ accountId, class: NORMAL }) as const

t.test('when one flow has used the whole capacity, the others still get some', async (t) => {
  const inFlight = new InFlightDeliveries(() => {})
  for (let at = 0; at < MAX_IN_FLIGHT; at++) inFlight.take(deliveryOf(1, at))
  t.equal(inFlight.capacity, 0)
  t.equal(inFlight.reserveFor(flow(1)), 0)
  t.equal(inFlight.reserveFor(flow(2)), 25)
  for (let at = 0; at < 20; at++) inFlight.take(deliveryOf(2, at))
  t.equal(inFlight.reserveFor(flow(2)), 5)
  inFlight.remove(deliveryOf(2, 0), undefined)
  inFlight.remove(deliveryOf(2, 0), undefined)
  t.equal(inFlight.reserveFor(flow(2)), 6, 'one that is removed twice counts once')
})

t.test('what is reserved has a limit for all flows together', async (t) => {
  const inFlight = new InFlightDeliveries(() => {})
  for (let at = 0; at < MAX_IN_FLIGHT + 490; at++) inFlight.take(deliveryOf(1, at))
  t.equal(inFlight.reserveFor(flow(2)), 10)
  t.equal(inFlight.reserveFor(flow(2), 8), 2, 'less what the same claim gives to others')
  t.equal(inFlight.reserveFor(flow(2), 10), 0)
})

t.test('bodies of one account in flight leave memory for claims of others', async (t) => {
  const inFlight = new InFlightDeliveries(() => {})
  const size = 100_000
  const messages = Array.from(
    { length: 600 },
    () => ({ accountId: 1, size, parts: new Map() }) as unknown as LoadedMessage,
  )
  for (const [at, message] of messages.entries()) {
    inFlight.take(deliveryOf(1, at))
    inFlight.load(message)
  }
  t.equal(inFlight.mayClaim(flow(1)), false)
  t.equal(inFlight.reserveFor(flow(1)), 0)
  t.ok(inFlight.capacity > 0)
  t.equal(inFlight.mayClaim(flow(2)), true)
  t.equal(inFlight.reserveFor(flow(2)), 25)
  const other = Array.from({ length: 400 }, () => ({ ...messages[0], accountId: 2 }) as LoadedMessage)
  for (const message of other) inFlight.load(message)
  t.equal(inFlight.capacity, 0, 'two accounts may use all of it')
  for (const [at, message] of messages.entries()) inFlight.remove(deliveryOf(1, at), message)
  t.equal(inFlight.mayClaim(flow(1)), true)
  t.ok(inFlight.capacity > 0)
})
