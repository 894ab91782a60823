import { createCore, createLog } from '@postrider/core'
import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'

const DAY = 86_400_000
const sink = await startSink(t, {
  rcpt: ({ command, before }) => (command.includes('<late@') && before === 0 ? '451 4.7.1 later' : undefined),
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RETURN_PATH_HOST: 'returns.test' })
const { service } = outbox
const { deliveries } = service.core
const target = { messageId: '0198a1b2c3d47e5f8091a2b3c4d5e6f7', recipientNo: 4711 }

/** The core of a host with another clock or another secret. */
function elsewhere({
  ahead = 0,
  secretKey = service.config.secretKey,
}: {
  ahead?: number
  secretKey?: string | undefined
}) {
  const core = createCore({
    sql: service.sql,
    config: { ...service.config, secretKey },
    log: createLog('test', 'silent'),
    clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() },
  })
  core.readiness.close()
  return core.deliveries
}

t.test('a return path names its delivery, in any case', async (t) => {
  for (const recipientNo of [0, 1, 255, 256, 9999, 65_535]) {
    const local = deliveries.returnPath({ ...target, recipientNo }, Date.now())
    t.match(local, /^[a-z0-9-]{1,64}$/, 'and fits a local part')
    t.strictSame(deliveries.readReturnPath(local), { ...target, recipientNo })
    t.strictSame(deliveries.readReturnPath(local.toUpperCase()), { ...target, recipientNo })
  }
})

t.test('altered in a single character it belongs to no delivery', async (t) => {
  const local = deliveries.returnPath(target, Date.now())
  const taken: string[] = []
  for (let at = 0; at < local.length; at++) {
    for (const other of 'abcdefghijklmnopqrstuvwxyz0123456789-=+ é') {
      if (other === local[at]) continue
      const altered = local.slice(0, at) + other + local.slice(at + 1)
      if (deliveries.readReturnPath(altered)) taken.push(altered)
    }
  }
  t.strictSame(taken, [])
})

t.test('shortened, lengthened, cut together or made up it belongs to no delivery', async (t) => {
  const local = deliveries.returnPath(target, Date.now())
  const other = deliveries.returnPath({ ...target, recipientNo: 1 }, Date.now())
  const forged = [
    '',
    'b-',
    'b',
    local.slice(2),
    local.slice(0, -1),
    `${local}a`,
    `${local}=`,
    ` ${local}`,
    `b-${local}`,
  ]
  forged.push(local.slice(0, 36) + other.slice(36), other.slice(0, 36) + local.slice(36), `b-${'a'.repeat(50)}`, 'b-\0')
  forged.push('postmaster', 'bounce', 'x'.repeat(100_000))
  for (const text of forged) t.equal(deliveries.readReturnPath(text), undefined, text.slice(0, 80))
})

t.test("another installation's return path belongs to no delivery", async (t) => {
  const foreign = elsewhere({ secretKey: 'another secret key that only tests know' })
  t.equal(deliveries.readReturnPath(foreign.returnPath(target, Date.now())), undefined)
  t.strictSame(
    elsewhere({}).readReturnPath(deliveries.returnPath(target, Date.now())),
    target,
    'another host of ours knows it',
  )
})

t.test('it is good for thirty days, and not before its time', async (t) => {
  const local = deliveries.returnPath(target, Date.now())
  t.strictSame(elsewhere({ ahead: 29 * DAY }).readReturnPath(local), target)
  t.equal(elsewhere({ ahead: 32 * DAY }).readReturnPath(local), undefined)
  t.equal(elsewhere({ ahead: -3 * DAY }).readReturnPath(local), undefined)
})

t.test('every recipient of a message has a return path of its own on the wire', async (t) => {
  const recipients = ['a@harbor.example', 'b@harbor.example', 'c@harbor.example']
  const id = await outbox.send('', { personalizations: recipients.map((recipient) => ({ recipient })) })
  for (const recipientNo of recipients.keys()) await outbox.inState(id, 'delivered', recipientNo)
  for (const [recipientNo, recipient] of recipients.entries()) {
    const [local = '', host] = sink.messages.find(({ to }) => to[0] === recipient)?.from.split('@') ?? []
    t.equal(host, 'returns.test')
    t.strictSame(deliveries.readReturnPath(local), { messageId: id, recipientNo })
  }
})

t.test('a retry days later has the same return path', async (t) => {
  const id = await outbox.send('late@harbor.example')
  await outbox.inState(id, 'deferred')
  const stored = elsewhere({ ahead: 2 * DAY })
  await outbox.advance(2 * 24 * 60)
  await outbox.inState(id, 'delivered')
  const mails = sink.commands.filter((command) => command.startsWith('MAIL'))
  const own = mails
    .map((mail) => /<([^@>]*)/.exec(mail)?.[1] ?? '')
    .filter((local) => stored.readReturnPath(local)?.messageId === id)
  t.equal(own.length, 2)
  t.equal(own[0], own[1])
})

t.test('a message relayed with the null return path keeps it', async (t) => {
  const relay = await outbox.openRelay(t)
  const text = `From: desk@${outbox.sender.domain}\r\nSubject: Out of office\r\n\r\nx\r\n`
  await outbox.inState(await relay.submit('', 'null@harbor.example', text), 'delivered')
  await outbox.inState(await relay.submit(`desk@${outbox.sender.domain}`, 'mine@harbor.example', text), 'delivered')
  t.equal(sink.messages.find(({ to }) => to[0] === 'null@harbor.example')?.from, '')
  t.match(sink.messages.find(({ to }) => to[0] === 'mine@harbor.example')?.from, /^b-/)
})
