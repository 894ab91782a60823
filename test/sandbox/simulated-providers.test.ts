import { createLog, readConfig, systemClock } from '@postrider/core'
import { startSandbox } from '@postrider/sandbox'
import t, { type Test } from 'tap'
import { freePorts } from '../helpers/ports.ts'
import { CLOSED } from '../helpers/smtp-client.ts'
import { newDataDir, offer, openSession } from './sandbox.ts'

const OK = /^250 2\.0\.0 Ok: stored/
const TSS04 = '421 4.7.0 [TSS04] Messages from this address are temporarily deferred due to unexpected volume'
const GREYLISTED = '451 4.7.1 Greylisted, please try again in 60 seconds'

const [smtp, http] = await freePorts(2)
let seconds = 0
const config = readConfig({
  DATA_DIR: newDataDir(),
  SANDBOX_SMTP_PORT: String(smtp),
  SANDBOX_HTTP_PORT: String(http),
})
const sandbox = await startSandbox(
  { config, log: createLog('test', 'silent') },
  { ...systemClock, monotonic: () => seconds * 1000 },
)
t.teardown(() => sandbox.close())

let senders = 0
const newSender = (): string => `return-${++senders}@ship.example`

async function offerOnce(t: Test, to: string, from = newSender()): Promise<string> {
  return offer(await openSession(t, config.sandboxSmtpPort), from, to)
}

t.test('throttling.test accepts five recipients of each minute, and ends the sessions of the others', async (t) => {
  for (const minute of [1, 2]) {
    for (const local of ['a', 'b', 'c', 'd', 'e']) t.match(await offerOnce(t, `${local}@throttling.test`), OK)
    t.equal(await offerOnce(t, 'f@Throttling.TEST'), TSS04, `minute ${minute}`)
    seconds += 59
    const client = await openSession(t, config.sandboxSmtpPort)
    t.equal(await offer(client, newSender(), 'g@throttling.test'), TSS04)
    t.equal(await client.reply(), CLOSED)
    seconds += 1
  }
  t.match(await offerOnce(t, 'a@harbor.example'), OK, 'other domains are not limited')
})

t.test('the minute of throttling.test begins with the first recipient that it accepts', async (t) => {
  seconds += 1000
  t.match(await offerOnce(t, 'a@throttling.test'), OK)
  seconds += 59
  for (const local of ['b', 'c', 'd', 'e']) t.match(await offerOnce(t, `${local}@throttling.test`), OK)
  t.equal(await offerOnce(t, 'f@throttling.test'), TSS04)
  seconds += 1
  for (const local of ['f', 'g', 'h', 'i', 'j']) t.match(await offerOnce(t, `${local}@throttling.test`), OK)
})

t.test('greylisting.test defers a pair of sender and recipient until a minute after its first attempt', async (t) => {
  const from = newSender()
  t.equal(await offerOnce(t, 'a@greylisting.test', from), GREYLISTED)
  seconds += 30
  t.equal(await offerOnce(t, 'a@greylisting.test', from), GREYLISTED)
  t.equal(await offerOnce(t, 'b@greylisting.test', from), GREYLISTED, 'another recipient')
  seconds += 30
  t.match(await offerOnce(t, 'a@greylisting.test', from), OK)
  t.match(await offerOnce(t, 'a@greylisting.test', from), OK)
  t.equal(await offerOnce(t, 'b@greylisting.test', from), GREYLISTED)
  t.equal(await offerOnce(t, 'a@greylisting.test'), GREYLISTED, 'another sender')
})

t.test('slow.test replies to end of data after two seconds', async (t) => {
  const startedAt = performance.now()
  t.match(await offerOnce(t, 'a@slow.test'), OK)
  const took = performance.now() - startedAt
  t.ok(took >= 1990, `${took} ms`)
})

t.test('the local part goes before the domain', async (t) => {
  t.match(await offerOnce(t, 'bounce@slow.test'), /^550 5\.1\.1/)
  t.equal(await offerOnce(t, 'throttle@greylisting.test'), TSS04)
})
