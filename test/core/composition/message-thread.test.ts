import { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import worker from 'node:worker_threads'
import t from 'tap'
import type { OutgoingMessage } from '../../../packages/core/src/composition/message-thread.ts'
import { createSecrets } from '../../../packages/core/src/platform/security/secrets.ts'

const threads: worker.Worker[] = []
const { Worker } = worker
worker.Worker = class extends Worker {
  constructor(...options: ConstructorParameters<typeof Worker>) {
    super(...options)
    threads.push(this)
  }
}
syncBuiltinESMExports()
const { createMessageThreads } = await import('../../../packages/core/src/composition/message-thread.ts')

const MIB = 1024 * 1024
const DATA = {
  keys: createSecrets('s'.repeat(40)).shared,
  publicUrl: 'http://a.example',
  trackingScheme: 'http',
} as const

t.test('a thread that ends between two letters is followed by another', async (t) => {
  const threadsOfIt = createMessageThreads(DATA)
  t.teardown(() => threadsOfIt.close())
  const letters = threadsOfIt.much
  const letter = {
    message: { id: 'no message', settings: {} },
    delivery: { recipient: 'lena@harbor.example', recipientNo: 0, personal: null },
  } as unknown as Parameters<typeof letters.write>[0]
  // Each is refused, as there is nothing to write: an answer all the same.
  const answered = () =>
    letters.write(letter).then(
      () => true,
      (error: Error) => !error.message.includes('ended'),
    )
  t.ok(await answered())
  await threads[0]?.terminate()
  t.ok(await answered())
  t.ok(await answered())
  t.equal(threads.length, 2)
})

t.test('a letter that takes long is not waited for by one that takes little', async (t) => {
  const letters = createMessageThreads(DATA)
  t.teardown(() => letters.close())
  const written: string[] = []
  const write = async (cost: 'some' | 'much', octets: number): Promise<void> => {
    await letters[cost].write(letterOf(octets))
    written.push(cost)
  }
  await Promise.all([write('much', 20 * 1024 * 1024), write('some', 100 * 1024)])
  t.same(written, ['some', 'much'])
})

t.test(
  'many letters of one account delay one of another by one of them, and its urgent ones do not wait for the others',
  async (t) => {
    const letters = createMessageThreads(DATA)
    t.teardown(() => letters.close())
    const written: string[] = []
    const write = async (name: string, accountId: number, settings = {}): Promise<void> => {
      const letter = letterOf(MIB)
      await letters.much.write({ ...letter, message: { ...letter.message, accountId, settings } })
      written.push(name)
    }
    const many = Array.from({ length: 8 }, () => write('many', 1))
    await Promise.all([...many, write('other', 2), write('urgent', 1, { class: 'urgent' })])
    t.strictSame(written.slice(0, 4).sort(), ['many', 'many', 'other', 'urgent'])
  },
)

function letterOf(octets: number): OutgoingMessage {
  const content = { from: { email: 'desk@ship.example', name: '' }, subject: 'Berth 4', html: '\n'.repeat(octets) }
  const body = Buffer.from(JSON.stringify(content))
  return {
    message: {
      id: randomUUID(),
      domainId: 1,
      loss: null,
      accountId: 1,
      acceptedAt: new Date(),
      dueFrom: new Date(),
      format: 'content',
      nullReturnPath: false,
      tags: [],
      settings: {},
      size: body.length,
      parts: new Map([[0, body]]),
    },
    delivery: { recipient: 'lena@harbor.example', recipientNo: 0, personal: null },
  }
}
