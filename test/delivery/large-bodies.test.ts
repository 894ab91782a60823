import type { Core, LoadedMessage } from '@postrider/core'
import t from 'tap'
import { LargeBodies } from '../../packages/delivery/src/message/large-bodies.ts'
import { MessageOctets } from '../../packages/delivery/src/smtp/message-octets.ts'

const MB = 1_000_000
const plain = { footer: undefined, clickTracking: false, openTracking: false, unsubscribe: false } as const
let messages = 0

function messageOf(
  accountId: number,
  size: number,
  format: 'mime' | 'content' = 'mime',
  tracked = false,
): LoadedMessage {
  const settings = { ...plain, openTracking: tracked }
  return { id: String(++messages), accountId, size, format, settings, parts: undefined } as unknown as LoadedMessage
}

interface Letter {
  readonly name: string
  /** The kernel has all of it. */
  taken(): void
  /** Its server replies. */
  reply(): Promise<void>
}

/** A budget, and the letters that are being sent. */
function makeBudget(): {
  begin: (name: string, message: LoadedMessage, site?: string) => Letter
  sent: string[]
  loads: string[]
  /** How many were being built as each began. */
  concurrent: number[]
} {
  const loads: string[] = []
  const loadParts = async (message: LoadedMessage): Promise<LoadedMessage> => {
    loads.push(message.id)
    return { ...message, parts: new Map([[0, Buffer.alloc(message.size)]]) }
  }
  const bodies = new LargeBodies({ messages: { loadParts } } as unknown as Core, { single: false })
  const sent: string[] = []
  const concurrent: number[] = []
  let building = 0
  return {
    sent,
    concurrent,
    loads,
    begin(name, message, site = name) {
      const [taken, replied] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const build = async ({ parts, format, settings, size }: LoadedMessage): Promise<{ message: MessageOctets }> => {
        const body = parts?.get(0) as Buffer
        concurrent.push(++building)
        await new Promise((resolve) => setImmediate(resolve))
        building--
        const isUnchanged = format === 'mime' && !settings.openTracking
        return { message: new MessageOctets(isUnchanged ? body : Buffer.alloc(size), { isOwn: !isUnchanged }) }
      }
      const send = async (built: { message: MessageOctets }): Promise<void> => {
        sent.push(name)
        await taken.promise
        built.message.release()
        await replied.promise
      }
      const ended = bodies.with(message, site, { build, send })
      return {
        name,
        taken: taken.resolve,
        reply() {
          replied.resolve()
          return ended
        },
      }
    },
  }
}

/** Everything that can begin now has begun: no step waits for anything but promises. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('a message that takes the whole budget to build leaves room for others while it is sent', async (t) => {
  const { begin, sent } = makeBudget()
  begin('tracked', messageOf(1, 7.7 * MB, 'mime', true))
  await settled()
  begin('composed', messageOf(2, 3 * MB, 'content'))
  await settled()
  t.strictSame(sent, ['tracked', 'composed'])
})

t.test('large messages are built one at a time, smaller ones together', async (t) => {
  const { begin, sent, concurrent } = makeBudget()
  for (const name of ['a', 'b']) begin(name, messageOf(1, 7 * MB, 'mime', true))
  await settled()
  for (const name of ['c', 'd']) begin(name, messageOf(1, MB, 'mime', true))
  await settled()
  t.strictSame(sent, ['a', 'b', 'c', 'd'])
  t.strictSame(concurrent, [1, 1, 1, 2])
})

t.test('an account has four messages in building at once, and accounts take turns', async (t) => {
  const { begin, sent, concurrent } = makeBudget()
  for (let at = 0; at < 30; at++) begin('many', messageOf(1, 100_000, 'content'), `site ${at}`).taken()
  begin('other', messageOf(2, 3 * MB, 'content')).taken()
  begin('another', messageOf(3, 10 * MB, 'content')).taken()
  for (let turn = 0; turn < 20; turn++) await settled()
  t.equal(sent.length, 32)
  t.ok(sent.indexOf('other') <= 4, `other after ${sent.indexOf('other')}`)
  t.ok(sent.indexOf('another') <= 9, `another after ${sent.indexOf('another')}`)
  t.ok(Math.max(...concurrent) <= 6, `${Math.max(...concurrent)} at once`)
})

t.test('an account has three quarters of the budget, and others send in the rest', async (t) => {
  const { begin, sent } = makeBudget()
  const first = begin('first', messageOf(1, 30 * MB))
  begin('second', messageOf(1, 9 * MB))
  begin('other', messageOf(2, 9 * MB))
  await settled()
  t.strictSame(sent, ['first', 'other'])
  first.taken()
  await settled()
  t.strictSame(sent, ['first', 'other', 'second'])
})

t.test('a site has half of the budget', async (t) => {
  const { begin, sent } = makeBudget()
  const first = begin('first', messageOf(1, 20 * MB), 'slow.example')
  begin('second', messageOf(2, 9 * MB), 'slow.example')
  begin('other', messageOf(3, 9 * MB), 'fast.example')
  await settled()
  t.strictSame(sent, ['first', 'other'])
  first.taken()
  await settled()
  t.strictSame(sent, ['first', 'other', 'second'])
})

t.test(
  'a message that has no room while a slow one is sent delays only those that would keep it waiting longer',
  async (t) => {
    const { begin, sent } = makeBudget()
    const slow = begin('slow', messageOf(1, 20 * MB))
    await settled()
    begin('large', messageOf(2, 32 * MB))
    const small = begin('small', messageOf(3, 8 * MB))
    begin('another', messageOf(4, 8 * MB))
    await settled()
    t.strictSame(sent, ['slow', 'small'])
    slow.taken()
    await settled()
    t.strictSame(sent, ['slow', 'small', 'large'])
    small.taken()
    await settled()
    t.strictSame(sent, ['slow', 'small', 'large', 'another'])
  },
)

t.test('the body of a relayed message is loaded once for its recipients, and kept until the last has it', async (t) => {
  const { begin, loads } = makeBudget()
  const message = messageOf(1, 10 * MB)
  const [first, second] = [begin('a', message), begin('b', message)]
  await settled()
  first.taken()
  await first.reply()
  const third = begin('c', message)
  await settled()
  t.strictSame(loads, [message.id])
  second.taken()
  third.taken()
  await Promise.all([second.reply(), third.reply()])
  begin('d', message).taken()
  await settled()
  t.strictSame(loads, [message.id, message.id])
})

t.test('a message that is larger than the budget is sent beside little else', async (t) => {
  const { begin, sent } = makeBudget()
  const slow = begin('slow', messageOf(1, 12 * MB))
  begin('huge', messageOf(2, 60 * MB))
  const small = begin('small', messageOf(3, MB))
  await settled()
  t.strictSame(sent, ['slow', 'small'])
  slow.taken()
  await settled()
  t.strictSame(sent, ['slow', 'small', 'huge'])
  begin('another', messageOf(4, MB))
  small.taken()
  await settled()
  t.strictSame(sent, ['slow', 'small', 'huge'])
})
